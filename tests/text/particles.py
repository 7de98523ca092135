"""Nouns and names with every Korean particle, in the form that fits the noun."""

from __future__ import annotations

from gieok.text.hangul import with_particle

_PEOPLE = """
    민지 준영 지훈 서연 하늘 보라 은우 나은 도윤 시우 하준 지우 서준 예준
    주원 민준 수아 지아 하린 유나 소연 다은 채원 윤서 지호 건우 현우 우진
    선우 연우 정우 승우 민재 현준 지민 태형 정국 석진 남준 호석 윤기 로제
    제니 리사 지수 해린 혜인 다니엘 하니 카리나 윈터 닝닝 지젤 슬기 웬디
    조이 예리 아이린 김민지 이준영 박서연 최지훈 정하늘 강보라 윤은우 임나은
    한도윤 오시우 김철수 이영희 홍길동 박지성 손흥민 김연아 이강인 유재석 아이유
    마이클 제임스 에밀리 소피아 올리비아 알렉스
"""
_BRANDS = """
    카카오뱅크 뉴진스 에스파 블랙핑크 방탄소년단 르세라핌 세븐틴 넷플릭스 유튜브
    인스타그램 갤럭시 아이폰 챗지피티 클로드 제미나이 토스 당근마켓 배달의민족 쿠팡
    네이버 삼성전자 현대자동차 스타벅스 맥도날드 이마트 올리브영 무신사 포켓몬
    닌텐도 스팀덱 플레이스테이션 마인크래프트 로블록스 디스코드 슬랙 노션 피그마
    깃허브 파이썬 자바스크립트
"""
_NOUNS = """
    면접 회사 학교 영화관 스타트업 고양이 강아지 커피 김치찌개 떡볶이 마라탕
    아메리카노 수학여행 컴퓨터공학 인공지능 기억 여자친구 남자친구 룸메이트 알바
    헬스장 도서관 기숙사 자취방 부산 제주도 서울대학교 홍대 강남역 성수동 생일파티
    졸업식 취업준비 포트폴리오 이력서 자기소개서 연봉협상 퇴사 이직 불면증 우울증
    다이어트 필라테스 클라이밍 기타 피아노 드라마 웹툰 소설 게임 축구 야구 여행
    비행기 기차 지하철 버스 자전거 우산 지갑 노트북 이어폰 생일선물 반지 목도리
    엄마 아빠 할머니 동생 선배 후배 교수님 친구
"""
# After a consonant / after a vowel.
_PAIRED = """
    이/가 은/는 을/를 과/와 이랑/랑 으로/로 이나/나 이라도/라도 이라는/라는
    이라고/라고 이야/야 이에요/예요 이었어/였어 이지만/지만 이랑은/랑은 으로는/로는
"""
_CONSTANT = """
    에 에서 에서는 에서도 에게 에게서 한테 한테서 하고 까지 부터 도 만 의
    보다 처럼 같이 마다 조차 밖에 만큼 까지도 한테는 에는
"""

ALL_NOUNS = (_PEOPLE + _BRANDS + _NOUNS).split()


def with_particles(noun: str) -> list[str]:
    """`noun` with each particle attached."""
    constant = [noun + particle for particle in _CONSTANT.split()]
    return constant + [with_particle(noun, pair) for pair in _PAIRED.split()]
