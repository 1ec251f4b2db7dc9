"""A task, or a client, whose program has set a provider of tracers: prints its spans as JSON lines when its input ends.

Its arguments: the addresses of ps:0 and worker:0, and `ps`, `worker`, or the target of a client's session.
"""

import json
import sys

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import weft as tf


def run(target):
    with tf.device("/job:ps/task:0"):
        weight = tf.get_variable("weight", initializer=[3.0] * 4)
    with tf.device("/job:worker/task:0"):
        gradient = 2 * weight
    with tf.device("/job:ps/task:0"):
        train = tf.assign_sub(weight, 0.1 * gradient)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        with trace.get_tracer("program").start_as_current_span("epoch"):
            session.run(train)


def main():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    ps, worker, role = sys.argv[1:]
    if role.startswith("grpc://"):
        run(role)
    else:
        server = tf.train.Server({"ps": [ps], "worker": [worker]}, role, 0)
        print("serves", flush=True)
        sys.stdin.read()
        server.stop()
    for span in exporter.get_finished_spans():
        told = {
            "name": span.name, "trace": span.context.trace_id, "span": span.context.span_id,
            "parent": span.parent.span_id if span.parent else 0, "begin": span.start_time, "end": span.end_time,
            "more": dict(span.attributes), "moments": [event.name for event in span.events],
        }  # fmt: skip
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
