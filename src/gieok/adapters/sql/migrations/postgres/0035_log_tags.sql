-- A random number that is new after every change of the session's log, so that a window in a cache which belongs to an
-- earlier state is noticed. NULL: no window of this state is in any cache.

ALTER TABLE sessions ADD COLUMN log_tag bigint;
