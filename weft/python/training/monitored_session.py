"""tensorflow.python.training.monitored_session, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.sessions.monitored_session import MonitoredSession as MonitoredSession
from weft.train.sessions.monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from weft.train.sessions.monitored_session import SingularMonitoredSession as SingularMonitoredSession
from weft.train.sessions.scaffold import Scaffold as Scaffold
from weft.train.sessions.session_creator import ChiefSessionCreator as ChiefSessionCreator
from weft.train.sessions.session_creator import SessionCreator as SessionCreator
from weft.train.sessions.session_creator import WorkerSessionCreator as WorkerSessionCreator
