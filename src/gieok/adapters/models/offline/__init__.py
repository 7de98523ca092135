"""A real language model without a network, for laptops, tests and the demo."""

from gieok.adapters.models.offline.emotion import Emotion, emotion_of
from gieok.adapters.models.offline.model import OfflineModel

__all__ = ["Emotion", "OfflineModel", "emotion_of"]
