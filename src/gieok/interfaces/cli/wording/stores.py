"""The lines of `gieok db` and `gieok keys`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

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
        "아직 열쇠가 없습니다. 첫 기억을 저장할 때 만들어집니다",
    ),
    "keys.root": Words("root key", "루트 열쇠"),
    "keys.keystore": Words("keystore", "열쇠 보관소"),
    "keys.owners": Words("owners", "소유자"),
    "keys.keys": Words("keys", "열쇠"),
    "keys.oldest": Words("oldest key", "가장 오래된 열쇠"),
    "keys.erased": Words("erased owners", "삭제된 소유자"),
    "keys.unfinished": Words("unfinished erasures", "끝나지 않은 삭제"),
    "keys.in_environment": Words("from GIEOK_ROOT_KEY", "GIEOK_ROOT_KEY에서 읽음"),
    "keys.mounted": Words("mounted as {path}", "{path}에 마운트됨"),
    "keys.own_file": Words("in {path}", "{path}에 있음"),
    "keys.root_rotated": Words(
        "root key {old} was replaced by {new}; {keys} keys are wrapped anew",
        "루트 열쇠 {old}을(를) {new}(으)로 바꾸고 열쇠 {keys}개를 다시 감쌌습니다",
    ),
    "keys.next_environment": Words(
        "Next: set GIEOK_ROOT_KEY to the value of GIEOK_ROOT_KEY_NEXT everywhere, then remove the latter.",
        "다음 할 일: 모든 곳에서 GIEOK_ROOT_KEY를 GIEOK_ROOT_KEY_NEXT의 값으로 바꾼 뒤 후자를 지우세요.",
    ),
    "keys.next_mounted": Words(
        "Next: mount the new key as {path} everywhere, then remove {path}.next.",
        "다음 할 일: 모든 곳에서 새 열쇠를 {path}(으)로 마운트한 뒤 {path}.next를 지우세요.",
    ),
    "keys.next_own": Words(
        "Next: move {path}.next to {path}; this user could not do it.",
        "다음 할 일: {path}.next를 {path}(으)로 옮기세요. 이 사용자는 옮길 수 없었습니다.",
    ),
    "keys.old_backups": Words(
        "Keep root key {old} as long as you keep backups of the keystore from before now.",
        "지금보다 앞선 열쇠 보관소 백업을 두는 동안에는 루트 열쇠 {old}을(를) 보관하세요.",
    ),
    "keys.new_backup": Words(
        "Back up {path} and the keystore now: older backups of it need root key {old}, which is gone.",
        "{path}와(과) 열쇠 보관소를 지금 백업하세요. 앞선 백업에 필요한 루트 열쇠 {old}은(는) 없어졌습니다.",
    ),
    "keys.users_rotated": Words(
        "users with a new data key: {users}; rows sealed anew: {rows}",
        "사용자 {users}명의 데이터 열쇠를 바꾸고 {rows}개 행을 다시 봉인했습니다",
    ),
    "keys.rotating": Words("rotating", "열쇠 교체 중"),
    "keys.rows": Words("{rows} rows", "{rows}개 행"),
}
