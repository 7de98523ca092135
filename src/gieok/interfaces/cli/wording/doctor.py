"""The lines of `gieok doctor`."""

from __future__ import annotations

from collections.abc import Mapping

from gieok.interfaces.cli.wording.words import Words

NAMES: Mapping[str, Words] = {
    "name.settings": Words("settings", "설정"),
    "name.variables": Words("variables", "환경 변수"),
    "name.database": Words("database", "데이터베이스"),
    "name.schema": Words("schema", "스키마"),
    "name.writing": Words("writing", "쓰기"),
    "name.row_security": Words("row security", "행 보안"),
    "name.disk": Words("disk", "디스크"),
    "name.root_key": Words("root key", "루트 열쇠"),
    "name.keystore": Words("keystore", "열쇠 보관소"),
    "name.rotation": Words("rotation", "열쇠 교체"),
    "name.erasures": Words("erasures", "삭제"),
    "name.model": Words("model", "모델"),
    "name.embedder": Words("embedder", "임베더"),
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
        "데이터베이스는 있는데 열쇠 보관소 {url}이(가) 없습니다",
    ),
    "doctor.keystore_gone_remedy": Words(
        "if memories were stored, put the keystore back before you start Gieok; a new one cannot open them",
        "저장한 기억이 있다면 먼저 열쇠 보관소를 되돌려 놓으세요. 새 열쇠 보관소로는 열 수 없습니다",
    ),
    "doctor.keystore_unused": Words("{place} holds no key yet", "{place}에 아직 열쇠가 없습니다"),
    "doctor.keystore_fits": Words(
        "{place} fits the root key: {owners} owners, {keys} keys, sealed with AES-256-GCM",
        "{place}: 루트 열쇠와 맞습니다. 소유자 {owners}명, 열쇠 {keys}개, AES-256-GCM으로 봉인",
    ),
    "doctor.rotation_cut_off": Words(
        "a rotation to root key {new} was cut off after the keystore had gone over to it",
        "루트 열쇠 {new}(으)로 바꾸는 일이 열쇠 보관소를 옮긴 뒤에 중단되었습니다",
    ),
    "doctor.rotation_cut_off_remedy": Words(
        "start Gieok once, which finishes it; put a mounted or environment key in its place yourself",
        "Gieok을 한 번 시작하면 마무리됩니다. 마운트한 열쇠나 환경 변수의 열쇠는 직접 바꾸세요",
    ),
    "doctor.rotation_waits": Words(
        "root key {new} waits to be rotated to", "루트 열쇠 {new}(으)로 바꿀 준비가 되어 있습니다"
    ),
    "doctor.rotation_waits_remedy": Words(
        "run `gieok keys rotate --root`, or remove the waiting key",
        "`gieok keys rotate --root`를 실행하거나 준비된 열쇠를 지우세요",
    ),
    "doctor.erasures_finished": Words("none is unfinished", "끝나지 않은 삭제가 없습니다"),
    "doctor.erasures_unfinished": Words(
        "{many} unfinished: the keys are destroyed, some rows may still be there",
        "끝나지 않은 삭제 {many}건: 열쇠는 파기되었고 행이 남아 있을 수 있습니다",
    ),
    "doctor.erasures_remedy": Words(
        "start Gieok once, which finishes them", "Gieok을 한 번 시작하면 마무리됩니다"
    ),
    "doctor.model_offline": Words("{name}, which needs no network", "{name}, 네트워크가 필요 없습니다"),
    "doctor.embedder_none": Words("none; memories are found by their words", "없음. 기억은 낱말로 찾습니다"),
    "doctor.analyzer_works": Words("{sample} gives {term}", "{sample} → {term}"),
    "doctor.analyzer_broken": Words(
        "{sample} is not analysed as it must be: searches would miss memories",
        "{sample}을(를) 제대로 분석하지 못합니다. 검색에서 기억이 빠질 수 있습니다",
    ),
    "doctor.analyzer_remedy": Words(
        "install mecab-ko and python-mecab-ko-dic again",
        "mecab-ko와 python-mecab-ko-dic을 다시 설치하세요",
    ),
    "doctor.clock_past": Words("the clock says {now}, which is past", "시계가 과거({now})를 가리킵니다"),
    "doctor.clock_behind": Words(
        "the clock says {now}, and the database was changed after that",
        "시계가 {now}인데 데이터베이스는 그보다 뒤에 바뀌었습니다",
    ),
    "doctor.clock_remedy": Words("set the clock, best by NTP", "시계를 맞추세요. NTP를 권합니다"),
}
