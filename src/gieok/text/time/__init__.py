"""Time expressions in Korean and English, and the periods that they refer to."""
