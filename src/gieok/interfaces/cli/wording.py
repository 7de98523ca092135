"""Every line that the commands say to a person, in English and in Korean.

The sentences of errors are not here: they are English everywhere, so that they can be searched for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gieok.interfaces.cli.particles import fit_particles
from gieok.interfaces.cli.wording_chat import CHAT
from gieok.interfaces.cli.wording_memory import BACKUP, MEMORY
from gieok.interfaces.cli.words import Lang, Words

PLAN: Mapping[str, Words] = {
    "plan.name": Words("NAME", "이름"),
    "plan.version": Words("VERSION", "버전"),
    "plan.steps": Words("STEPS", "단계 수"),
    "plan.hash": Words("HASH", "해시"),
    "plan.title": Words("{name}, version {version}, sha256 {hash}", "{name}, 버전 {version}, sha256 {hash}"),
    "plan.request": Words("The caller gives: {names}", "호출자가 주는 값: {names}"),
    "plan.stage": Words("STAGE", "스테이지"),
    "plan.step": Words("STEP", "단계"),
    "plan.type": Words("TYPE", "종류"),
    "plan.inputs": Words("INPUTS", "입력"),
    "plan.policy": Words("POLICY", "정책"),
    "plan.ok": Words("{plan}: ok", "{plan}: 정상"),
}

DB: Mapping[str, Words] = {
    "db.url": Words("database", "데이터베이스"),
    "db.state": Words("state", "상태"),
    "db.missing": Words(
        "not there yet; it is made on first use or by `gieok db upgrade`",
        "아직 없습니다. 처음 사용할 때 또는 `gieok db upgrade`로 만들어집니다",
    ),
    "db.version": Words("version", "버전"),
    "db.schema": Words("schema", "스키마"),
    "db.schema_current": Words("{version} of {latest}, current", "{latest} 중 {version}, 최신입니다"),
    "db.schema_pending": Words(
        "{version} of {latest}, {pending} to apply; the next start or `gieok db upgrade` does it",
        "{latest} 중 {version}, 적용할 것 {pending}개. 다음에 시작할 때 또는 `gieok db upgrade`로 적용됩니다",
    ),
    "db.size": Words("size", "크기"),
    "db.durability": Words("durability", "내구성"),
    "db.connections": Words("connections", "연결 수"),
    "db.role": Words("role", "역할"),
    "db.rows_walled": Words(
        "row-level security keeps owners apart", "행 수준 보안이 소유자 사이를 막고 있습니다"
    ),
    "db.rows_open": Words(
        "this role bypasses row-level security", "이 역할은 행 수준 보안의 적용을 받지 않습니다"
    ),
    "db.created": Words("made {url}", "만들었습니다: {url}"),
    "db.applied": Words("applied {name}", "적용했습니다: {name}"),
    "db.backup": Words("the database as it was before: {path}", "적용하기 전의 데이터베이스: {path}"),
    "db.current": Words("schema {version} is current", "스키마 {version}, 최신입니다"),
}

KEYS: Mapping[str, Words] = {
    "keys.missing": Words(
        "no keys yet; they are made when the first memory is stored",
        "아직 키가 없습니다. 첫 기억을 저장할 때 만들어집니다",
    ),
    "keys.root": Words("root key", "루트 키"),
    "keys.keystore": Words("keystore", "키 저장소"),
    "keys.owners": Words("owners", "소유자"),
    "keys.keys": Words("keys", "키"),
    "keys.oldest": Words("oldest key", "가장 오래된 키"),
    "keys.erased": Words("erased owners", "삭제된 소유자"),
    "keys.unfinished": Words("unfinished erasures", "끝나지 않은 삭제"),
    "keys.in_environment": Words("from GIEOK_ROOT_KEY", "GIEOK_ROOT_KEY에서 읽음"),
    "keys.mounted": Words("mounted as {path}", "{path}에 마운트됨"),
    "keys.own_file": Words("in {path}", "{path}에 있음"),
    "keys.root_rotated": Words(
        "root key {old} was replaced by {new}; {keys} keys are wrapped anew",
        "루트 키 {old}을(를) {new}(으)로 바꾸고 키 {keys}개를 다시 감쌌습니다",
    ),
    "keys.next_environment": Words(
        "Next: set GIEOK_ROOT_KEY to the value of GIEOK_ROOT_KEY_NEXT everywhere, then remove the latter.",
        "다음 할 일: 모든 곳에서 GIEOK_ROOT_KEY를 GIEOK_ROOT_KEY_NEXT의 값으로 바꾼 뒤 후자를 지우세요.",
    ),
    "keys.next_mounted": Words(
        "Next: mount the new key as {path} everywhere, then remove {path}.next.",
        "다음 할 일: 모든 곳에서 새 키를 {path}(으)로 마운트한 뒤 {path}.next를 지우세요.",
    ),
    "keys.next_own": Words(
        "Next: move {path}.next to {path}; this user could not do it.",
        "다음 할 일: {path}.next를 {path}(으)로 옮기세요. 이 사용자는 옮길 수 없었습니다.",
    ),
    "keys.old_backups": Words(
        "Keep root key {old} as long as you keep backups of the keystore from before now.",
        "지금보다 앞선 키 저장소 백업을 두는 동안에는 루트 키 {old}을(를) 보관하세요.",
    ),
    "keys.new_backup": Words(
        "Back up {path} and the keystore now: older backups of it need root key {old}, which is gone.",
        "{path}와(과) 키 저장소를 지금 백업하세요. 앞선 백업에 필요한 루트 키 {old}은(는) 없어졌습니다.",
    ),
    "keys.users_rotated": Words(
        "users with a new data key: {users}; rows sealed anew: {rows}",
        "사용자 {users}명의 데이터 키를 바꾸고 {rows}개 행을 다시 봉인했습니다",
    ),
    "keys.rotating": Words("rotating", "키 교체 중"),
    "keys.rows": Words("{rows} rows", "{rows}개 행"),
}

NAMES: Mapping[str, Words] = {
    "name.settings": Words("settings", "설정"),
    "name.variables": Words("variables", "환경 변수"),
    "name.database": Words("database", "데이터베이스"),
    "name.schema": Words("schema", "스키마"),
    "name.writing": Words("writing", "쓰기"),
    "name.row_security": Words("row security", "행 보안"),
    "name.disk": Words("disk", "디스크"),
    "name.root_key": Words("root key", "루트 키"),
    "name.keystore": Words("keystore", "키 저장소"),
    "name.rotation": Words("rotation", "키 교체"),
    "name.erasures": Words("erasures", "삭제"),
    "name.model": Words("model", "모델"),
    "name.analyzer": Words("analyzer", "형태소 분석"),
    "name.clock": Words("clock", "시계"),
}

DOCTOR: Mapping[str, Words] = {
    "doctor.settings": Words("Settings", "설정"),
    "doctor.checks": Words("Checks", "점검"),
    "doctor.default": Words("default", "기본값"),
    "doctor.well": Words("Everything is fine.", "모두 정상입니다."),
    "doctor.attention": Words(
        "It works; look at the lines marked with !.", "동작합니다. !로 표시한 줄을 확인하세요."
    ),
    "doctor.ill": Words(
        "Something does not work; see above what to do.", "동작하지 않는 것이 있습니다. 위의 조치를 보세요."
    ),
    "doctor.variables_known": Words("every GIEOK_* variable is known", "모르는 GIEOK_* 환경 변수가 없습니다"),
    "doctor.variable_unknown": Words("{name} is not read by Gieok", "{name}: Gieok이 읽지 않는 변수입니다"),
    "doctor.variable_remedy": Words("correct its name or remove it", "이름을 고치거나 지우세요"),
    "doctor.database_there": Words("{product}, {url}, {size}", "{product}, {url}, {size}"),
    "doctor.database_missing": Words(
        "{url} is not there yet; it is made on first use", "{url}: 아직 없으며 처음 사용할 때 만들어집니다"
    ),
    "doctor.database_cannot_be": Words(
        "{url} is not there, and {folder} does not let this user make it",
        "{url}: 아직 없으며 이 사용자는 {folder}에 만들 수 없습니다",
    ),
    "doctor.database_remedy": Words(
        "let this user write there, or set GIEOK_DATABASE_URL to another path",
        "쓰기 권한을 주거나 GIEOK_DATABASE_URL을 다른 경로로 정하세요",
    ),
    "doctor.schema_remedy": Words("run `gieok db upgrade`", "`gieok db upgrade`를 실행하세요"),
    "doctor.writes": Words("a write is possible now", "지금 쓸 수 있습니다"),
    "doctor.rows_open": Words(
        "role {role} bypasses row-level security: the second wall between owners is missing",
        "역할 {role}에는 행 수준 보안이 적용되지 않아 소유자 사이의 두 번째 벽이 없습니다",
    ),
    "doctor.rows_remedy": Words(
        "log in with a role that is no superuser and has no BYPASSRLS",
        "슈퍼유저가 아니고 BYPASSRLS도 없는 역할로 접속하세요",
    ),
    "doctor.disk": Words("{free} free", "여유 공간 {free}"),
    "doctor.disk_remedy": Words("free some space on that disk", "그 디스크의 공간을 확보하세요"),
    "doctor.root_safe": Words(
        "{id}, {place}; nobody else on this machine can read it",
        "{id}, {place}. 이 컴퓨터의 다른 사용자는 읽을 수 없습니다",
    ),
    "doctor.root_given": Words("{id}, {place}", "{id}, {place}"),
    "doctor.root_not_made": Words(
        "not made yet; the first use makes {path}", "아직 없으며 처음 사용할 때 {path}에 만들어집니다"
    ),
    "doctor.root_not_mounted": Words("nothing is mounted as {path}", "{path}에 마운트된 것이 없습니다"),
    "doctor.root_not_mounted_remedy": Words(
        "mount the secret there, or unset GIEOK_ROOT_KEY_FILE",
        "비밀 값을 그곳에 마운트하거나 GIEOK_ROOT_KEY_FILE을 해제하세요",
    ),
    "doctor.keystore_missing": Words(
        "{url} is not there yet; it is made on first use", "{url}: 아직 없으며 처음 사용할 때 만들어집니다"
    ),
    "doctor.keystore_gone": Words(
        "the database is there and its keystore {url} is not",
        "데이터베이스는 있는데 키 저장소 {url}이(가) 없습니다",
    ),
    "doctor.keystore_gone_remedy": Words(
        "if memories were stored, put the keystore back before you start Gieok; a new one cannot open them",
        "저장한 기억이 있다면 먼저 키 저장소를 되돌려 놓으세요. 새 키 저장소로는 열 수 없습니다",
    ),
    "doctor.keystore_unused": Words("{place} holds no key yet", "{place}에 아직 키가 없습니다"),
    "doctor.keystore_fits": Words(
        "{place} fits the root key: {owners} owners, {keys} keys, sealed with AES-256-GCM",
        "{place}: 루트 키와 맞습니다. 소유자 {owners}명, 키 {keys}개, AES-256-GCM으로 봉인",
    ),
    "doctor.rotation_cut_off": Words(
        "a rotation to root key {new} was cut off after the keystore had gone over to it",
        "루트 키 {new}(으)로 바꾸는 일이 키 저장소를 옮긴 뒤에 중단되었습니다",
    ),
    "doctor.rotation_cut_off_remedy": Words(
        "start Gieok once, which finishes it; put a mounted or environment key in its place yourself",
        "Gieok을 한 번 시작하면 마무리됩니다. 마운트한 키나 환경 변수의 키는 직접 바꾸세요",
    ),
    "doctor.rotation_waits": Words(
        "root key {new} waits to be rotated to", "루트 키 {new}(으)로 바꿀 준비가 되어 있습니다"
    ),
    "doctor.rotation_waits_remedy": Words(
        "run `gieok keys rotate --root`, or remove the waiting key",
        "`gieok keys rotate --root`를 실행하거나 준비된 키를 지우세요",
    ),
    "doctor.erasures_finished": Words("none is unfinished", "끝나지 않은 삭제가 없습니다"),
    "doctor.erasures_unfinished": Words(
        "{many} unfinished: the keys are destroyed, some rows may still be there",
        "끝나지 않은 삭제 {many}건: 키는 파기되었고 행이 남아 있을 수 있습니다",
    ),
    "doctor.erasures_remedy": Words(
        "start Gieok once, which finishes them", "Gieok을 한 번 시작하면 마무리됩니다"
    ),
    "doctor.model_offline": Words("{name}, which needs no network", "{name}, 네트워크가 필요 없습니다"),
    "doctor.analyzer_works": Words("{sample} gives {term}", "{sample} → {term}"),
    "doctor.analyzer_broken": Words(
        "{sample} is not analysed as it must be: searches would miss memories",
        "{sample}을(를) 제대로 분석하지 못합니다. 검색에서 기억이 빠질 수 있습니다",
    ),
    "doctor.analyzer_remedy": Words(
        "install python-mecab-ko and python-mecab-ko-dic again",
        "python-mecab-ko와 python-mecab-ko-dic을 다시 설치하세요",
    ),
    "doctor.clock_past": Words("the clock says {now}, which is past", "시계가 과거({now})를 가리킵니다"),
    "doctor.clock_behind": Words(
        "the clock says {now}, and the database was changed after that",
        "시계가 {now}인데 데이터베이스는 그보다 뒤에 바뀌었습니다",
    ),
    "doctor.clock_remedy": Words("set the clock, best by NTP", "시계를 맞추세요. NTP를 권합니다"),
}

DECISION: Mapping[str, Words] = {
    "decision.none": Words("no decisions", "결정이 없습니다"),
    "decision.id": Words("ID", "ID"),
    "decision.strength": Words("STRENGTH", "강도"),
    "decision.domain": Words("DOMAIN", "도메인"),
    "decision.version": Words("VERSION", "버전"),
    "decision.when": Words("WHEN (UTC)", "시각(UTC)"),
    "decision.statement": Words("STATEMENT", "결정"),
    "decision.evidence": Words("EVIDENCE", "근거"),
    "decision.relation": Words("RELATION", "관계"),
    "decision.more": Words("There are more: --cursor {cursor}", "더 있습니다: --cursor {cursor}"),
    "decision.reached": Words("decisions reached: {many}", "영향을 받는 결정: {many}개"),
    "decision.cut": Words(
        "decisions reached: {many}, and more beyond the depth or the limit",
        "영향을 받는 결정: {many}개. 깊이나 개수의 한도 너머에 더 있습니다",
    ),
    "decision.below": Words("(in a layer below)", "(아래 계층에 있음)"),
    "decision.beyond": Words("(left out by the budget)", "(예산을 넘어 빠짐)"),
    "decision.left_out": Words(
        "{many} more, left out by the budget or the plan", "예산이나 계획에 따라 {many}개를 제외했습니다"
    ),
    "decision.unread": Words("not looked into: the budget had ended", "예산이 다하여 살펴보지 않았습니다"),
    "decision.tokens": Words("about {tokens} tokens", "약 {tokens} 토큰"),
    "decision.saved": Words("saved {id}, version {version}", "{id} 저장, 버전 {version}"),
    "decision.related": Words("related: {source} {kind} {target}", "관계 추가: {source} {kind} {target}"),
    "decision.unrelated": Words("removed: {source} {kind} {target}", "관계 삭제: {source} {kind} {target}"),
    "decision.file": Words("FILE", "파일"),
    "decision.outcome": Words("OUTCOME", "결과"),
    "decision.imported": Words(
        "added {added}, changed {changed}, unchanged {unchanged}, skipped {skipped}; "
        "relations added {relations}, removed {removed}",
        "추가 {added}, 변경 {changed}, 그대로 {unchanged}, 건너뜀 {skipped}. "
        "관계 추가 {relations}, 삭제 {removed}",
    ),
    "decision.wrote": Words("wrote {path}", "{path} 기록"),
    "decision.left": Words(
        "left {path} alone: it says that the decision is not in force",
        "{path}: 효력이 없는 결정이라고 되어 있어 그대로 두었습니다",
    ),
    "decision.exported": Words(
        "files written {written}, unchanged {unchanged}, left alone {left}",
        "기록한 파일 {written}, 그대로 {unchanged}, 남겨 둔 파일 {left}",
    ),
}

TOKEN: Mapping[str, Words] = {
    "token.token": Words("token", "토큰"),
    "token.id": Words("id", "ID"),
    "token.user": Words("user", "사용자"),
    "token.plan": Words("plan", "요금제"),
    "token.scopes": Words("scopes", "권한"),
    "token.state": Words("state", "상태"),
    "token.once": Words(
        "Copy the token now: it is not stored and cannot be shown again.",
        "토큰을 지금 복사해 두세요. 저장하지 않으므로 다시 볼 수 없습니다.",
    ),
    "token.none": Words("no tokens", "토큰이 없습니다"),
    "token.head_id": Words("ID", "ID"),
    "token.head_user": Words("USER", "사용자"),
    "token.head_plan": Words("PLAN", "요금제"),
    "token.head_scopes": Words("SCOPES", "권한"),
    "token.head_label": Words("LABEL", "이름표"),
    "token.head_created": Words("CREATED (UTC)", "만든 때(UTC)"),
    "token.head_state": Words("STATE (UTC)", "상태(UTC)"),
    "token.revoked": Words(
        "token {id} of {user} is refused from now on", "{user}의 토큰 {id}을(를) 폐기했습니다"
    ),
    "token.revoked_at": Words("revoked {at}", "{at}에 폐기됨"),
    "token.expired_at": Words("expired {at}", "{at}에 만료됨"),
    "token.in_force": Words("in force", "유효"),
    "token.in_force_until": Words("in force until {at}", "{at}까지 유효"),
}

AUDIT: Mapping[str, Words] = {
    "audit.none": Words("no entries", "기록이 없습니다"),
    "audit.when": Words("WHEN (UTC)", "시각(UTC)"),
    "audit.action": Words("ACTION", "행위"),
    "audit.subject": Words("SUBJECT", "대상"),
    "audit.id": Words("ID", "ID"),
}

SERVE: Mapping[str, Words] = {
    "serve.listening": Words(
        "Gieok listens on {url} (try {url}/docs). A token: gieok token create --user NAME",
        "Gieok이 {url} 에서 듣고 있습니다({url}/docs). 토큰 만들기: gieok token create --user 이름",
    ),
    "worker.working": Words(
        "Gieok does what is due. Ctrl-C ends it.", "Gieok이 예정된 일을 처리합니다. Ctrl-C로 끝냅니다."
    ),
}

WORDING: Mapping[str, Words] = {
    **PLAN,
    **DECISION,
    **DB,
    **KEYS,
    **NAMES,
    **DOCTOR,
    **TOKEN,
    **AUDIT,
    **SERVE,
    **MEMORY,
    **BACKUP,
    **CHAT,
}


@dataclass(frozen=True)
class Say:
    """The lines of one language, by key: `say("db.created", url=url)`. The demo has lines of its own."""

    lang: Lang
    lines: Mapping[str, Words] = field(default_factory=lambda: WORDING, repr=False)

    def __call__(self, key: str, **values: object) -> str:
        words = self.lines[key]
        if self.lang == "en":
            return words.en.format(**values)
        return fit_particles(words.ko, values).format(**values)
