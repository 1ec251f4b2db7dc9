"""ProfileOptionBuilder: what `profile` is to count and show, built step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Options = Mapping[str, object]

TRAINABLE_VARS_PARAMS_STAT_OPTIONS: Final[dict[str, object]] = {
    "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
    "order_by": "name", "account_type_regexes": ["_trainable_variables"], "start_name_regexes": [".*"],
    "trim_name_regexes": [], "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": True,
    "select": ["params"], "step": -1, "output": "stdout",
}  # fmt: skip
FLOAT_OPS_OPTIONS: Final[dict[str, object]] = {
    **TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "min_float_ops": 1, "order_by": "float_ops", "account_type_regexes": [".*"],
    "select": ["float_ops"],
}  # fmt: skip


class ProfileOptionBuilder:
    """Options of a report; each method changes one and gives the builder back.

        options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_max_depth(3).order_by("name").build()

    Args:
        options: where to begin; when None a report of the times of all nodes, by name, to a depth of 100.
    """

    def __init__(self, options: Options | None = None) -> None:
        default = {**FLOAT_OPS_OPTIONS, "max_depth": 100, "min_float_ops": 0, "order_by": "name", "select": ["micros"]}
        self._options = dict(default if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, object]:
        """Options that count the parameters of trainable variables.

        Returns:
            Options by name, as `profile` takes them.
        """
        return dict(TRAINABLE_VARS_PARAMS_STAT_OPTIONS)

    @staticmethod
    def float_operation() -> dict[str, object]:
        """Options that count floating-point operations.

        Returns:
            Options by name, as `profile` takes them.
        """
        return dict(FLOAT_OPS_OPTIONS)

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, object]:
        """Options that show the time and the bytes of one traced step, the longest time first.

        Args:
            min_micros, min_accelerator_micros, min_cpu_micros: the least microseconds of what is shown: on all devices, on
                accelerators, on CPUs.
            min_bytes, min_output_bytes: the least bytes of the outputs of what is shown.
            min_peak_bytes, min_residual_bytes: accepted; weft traces no memory of kernels.

        Returns:
            Options by name, as `profile` takes them.
        """
        least = {
            "min_bytes": min_bytes, "min_peak_bytes": min_peak_bytes, "min_residual_bytes": min_residual_bytes,
            "min_output_bytes": min_output_bytes, "min_micros": min_micros, "min_accelerator_micros": min_accelerator_micros,
            "min_cpu_micros": min_cpu_micros,
        }  # fmt: skip
        return {**FLOAT_OPS_OPTIONS, **least, "min_float_ops": 0, "order_by": "micros", "select": ["micros", "bytes"]}

    def build(self) -> dict[str, object]:
        """The options."""
        return dict(self._options)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show so many levels of name scopes.

        Args:
            max_depth: how many levels below the root are shown; what is deeper counts in the level above.

        Returns:
            This builder.
        """
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0
    ) -> ProfileOptionBuilder:
        """Show what makes so many bytes at least.

        Args:
            min_bytes, min_output_bytes: of outputs.
            min_peak_bytes, min_residual_bytes: accepted; weft traces no memory of kernels.

        Returns:
            This builder.
        """
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Show what takes so long at least.

        Args:
            min_micros, min_accelerator_micros, min_cpu_micros: microseconds on all devices, on accelerators, on CPUs.

        Returns:
            This builder.
        """
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Show what has so many parameters of its own at least.

        Args:
            min_params: the least number.

        Returns:
            This builder.
        """
        return self._with(min_params=min_params)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Show what does so many floating-point operations of its own at least.

        Args:
            min_float_ops: the least number.

        Returns:
            This builder.
        """
        return self._with(min_float_ops=min_float_ops)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Show types of ops of which there are so many nodes at least.

        Args:
            min_occurrence: the least number.

        Returns:
            This builder.
        """
        return self._with(min_occurrence=min_occurrence)

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Choose by names, as regular expressions of which one has to match the whole name.

        Args:
            start_name_regexes: what the report begins at.
            show_name_regexes: what is shown.
            hide_name_regexes: what is neither shown nor counted.
            trim_name_regexes: below what nothing is shown or counted.

        Returns:
            This builder.
        """
        given = {
            "start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes,
        }  # fmt: skip
        return self._with(**{key: list(names) for key, names in given.items() if names is not None})

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Count ops of these types only.

        Args:
            account_type_regexes: regular expressions, one of which an op's type has to match.

        Returns:
            This builder.
        """
        return self._with(account_type_regexes=list(account_type_regexes))

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Choose whether totals leave out what is not shown.

        Args:
            is_true: whether they do.

        Returns:
            This builder.
        """
        return self._with(account_displayed_op_only=is_true)

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Show one of the steps that a Profiler was given.

        Args:
            step: its number; the mean of all when negative.

        Returns:
            This builder.
        """
        return self._with(step=step)

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Write the report to a file.

        Args:
            outfile: the file's path; the report is then not printed.

        Returns:
            This builder.
        """
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Write the step's trace in place of a report, for Perfetto or chrome://tracing.

        Args:
            timeline_file: the file's path.

        Returns:
            This builder.
        """
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Print the report.

        Returns:
            This builder.
        """
        return self._with(output="stdout")

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Only return it."""
        return self._with(output="none")

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Choose what to show.

        Args:
            attributes: of "params", "float_ops", "micros", "accelerator_micros", "cpu_micros", "bytes", "output_bytes" and
                "occurrence".

        Returns:
            This builder.
        """
        return self._with(select=list(attributes))

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Choose by what to sort.

        Args:
            attribute: "name", or what can be selected; the largest comes first.

        Returns:
            This builder.
        """
        return self._with(order_by=attribute)

    def _with(self, **options: object) -> ProfileOptionBuilder:
        self._options.update(options)
        return self
