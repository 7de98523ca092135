"""The pinned hash of each shipped plan. Sessions store the hash of their plan: change one deliberately."""

from __future__ import annotations

from gieok.plans import load_plan, plan_names

# After a change of plans run `python -m tests.plan_hashes`: it also keeps the former hashes.
PINNED = {
    "add_anchor": "6ec520f79cddb3f8b4c62c91139d860bb485d8e2baacaee4b99486db80f25c67",
    "archive_memory": "ccbba4dd934e1e4d5f3572479c48d31abb9973d215db461a63175146574b91c6",
    "change_documents": "7b7133fa55be46815aa71f88be5dca365e28f0dd46ca515b46c0bd71824613ba",
    "chat_turn": "22d38372bc3a67aae378ab214eb370cca3d21eaa69083d5353b02181c8921a55",
    "chat_turn_whole": "5b06ecca3a32a516f595b757086a193b9b666d99a433e803bacb2ad8de76b519",
    "chat_turn_without_state": "a1a64a083b598f806319a08e36a54bac65723a3c19ad941d854c89c2b35d89a5",
    "chat_turn_without_summaries": "b1693a0607d03d9b1f1c51f709326c4312a40d8d6b351e4a2d712744fe908dd4",
    "chat_turn_without_turn_memory": "925725c96e35fee38fb6c0e81ea4257b233a12874b700e29a3d0e8ddd2114d59",
    "close_inactive_session": "a65e9f508a2f37ed7c5889beec839a74b258b26fa854e758ebde6b1cb23fc315",
    "close_inactive_session_without_summaries": "91e0381d1bf102c77696a81337b6fc9516fc3de86f0d1ef1983437b7a706ab67",  # noqa: E501
    "close_session": "6089df5d176c143eb32dd73e9d5d4ea40db04d81c14923909b70f48cd5cc0035",
    "close_session_without_summaries": "fe837954e81454aa983b49c0c21b3739879581b82f5a6e090cc29f5f51432f18",
    "compact_conversation": "d47e434b988b9fc0ae70c1c433e06cb0c5b5edd306779b000587da0554cddc30",
    "configure_memories": "e7f3ea69fae2d8be39877d8bcc823d8cf415919c2f6ab275eb204d0a71c25db7",
    "create_memories": "b97b151e006377ddc14d6fc23ba9d718b16c5376b2732fb7a1b42e86b140e549",
    "create_memory": "11456fcfafc939a7b6ac6580b93d8c546bab733dd11c70ccc950a3ca8169f4df",
    "create_memory_of_messages": "a0634784c8fc29f7df0ac26aa2faa9adfdaf275fa151835ad46b9ee74615445b",
    "create_persona": "6d6d3fe96fbb8576926373561ff154aeeea6e8c8eb4f9633030f75bb3b0b60da",
    "decision_impact": "514d8e6b21a782110331a93ad58860f01f465d6d9840f353d78248e3aeef8067",
    "delete_memories": "36f7d0f6eee5e5bf997f59add210d53fb1653a56f03d3e2f3d8d82c03b4bfc75",
    "delete_memory": "def2990d138817dae4758e18ec06a14c392ebc47660ac55dbbb4025f72ce7275",
    "delete_persona": "9d935ca0da5c48ebac7d4810d346962860e138033c856ac54baa87d623957c7f",
    "delete_session": "8aab578daea966b70d78b691d2d8c3e97fc83424e532288405aee591e1037f0c",
    "delete_session_with_memories": "7ea176ac64947983abd24f80845a5fa915472715a190146b28e3a7bbd0f9c425",
    "edit_memory": "fc86b0eef2bf77609fd3872ab723931e612565e511a94bfdf2287185de9f3aae",
    "edit_persona": "858d02832f6a076b2e3d91c8a4b59870f4408a35c25f65e7064cb85c81cb79fa",
    "embed_memories": "da8ad86a06f7614fd76ee6d01351934ca87e9445f42c563eaa1f67d0c6593a80",
    "import_conversation": "270e7e12aad460c7ebd115fcb6fbe2cbf3aeecb448d6c7616c76edbc76c03fbb",
    "import_conversation_and_remember": "06d9ce9b69f5e269b11223badeff3b4eb73b5c2eb2882096d3f1afea1dac9e70",
    "import_decisions": "49dcadbd6eefe28a9abbe81c078284f6c3a9975976dab30e38a316ab2892b4ee",
    "keep_evidence": "611483422be9ab5385e1550fc881f7ee33c2390ce09cb5a2feed5aa5901d8e23",
    "load_context": "114175f8a1e2d630646d85cd469173e819ca396db289fd397ef426e595ca7e58",
    "load_decisions": "af09b1b71f8cba7943896a785f2fecd71d0dd3a0f31ad8beff70bb096e1eb848",
    "load_memories": "db67bab22ee8dbf49dc2a0cd15215047455f7ce1db7ad1c15207572f8ef18e8a",
    "load_session": "2722dc87b3fed1f695bb015ba3f2724fe867fd2c90c0996b5a380b2c923bc2f7",
    "load_state": "2ae77170af9bf5688887f972dbca13b8e5c7b87bbd6b7c8c7999fb2511478ad9",
    "move_session": "8a93b4d856830d3b90a8c6a24dc92268f8be18938e7d4c3ac12180fef7455189",
    "propose_decision": "0d228b98e5c19ffc49a360e1f8d7563285537c416c7c1f57c75ab967001ccaa6",
    "put_back_job": "7787a2ca9690a166c5e07cde9062a740ccdb3bf9bbf5d9801a5d44dcf45bd68b",
    "queue_walk": "f1b4ae314e19e9d5ef17227750d044c37bf5ad1c57bff2701267a3a1f2e210ed",
    "read_documents": "5e91ed415eb2ac36ba489f830715dcf0b857d470ba353d8541251dadf0e63626",
    "relate_decisions": "fcb51081bc1cd76602018f0d514642c4f3bff6dd6527b9a37c2398e7cd2b68b5",
    "remember_turn": "4d8fc8662bbda2301ea97d125e18d59ad5741d27067a8b55be2387abb74b3a32",
    "remember_turn_without_turn_memory": "4b503ee22c9e462cb90880b267dddeb4b91750b1063ee432f5350a3e1b3e0029",
    "replace_excerpt": "d47c73eb7d65a44d9e31aa4f9b750768a8927d08a32bbcc7b9deca0ec7c67b2d",
    "reply_only": "8dee93eaa11b0ef8eb71dfaf4ce5cc34b92d431c541b907bd1e3b1313b9a6952",
    "request_summary": "099cbd59dad14f3826c5633f22449c8734b3836abcaf5e1283f2a45c064e2762",
    "restore_memory": "b757fa51aa10fccb0a37f28bc0167aef4ccdf32cfae08c9deffc8f889ac9bd2f",
    "retire_fact": "181662ab61142039b15fe950e826cc9dcf2748f4162c0ce4158f8c7938ec962d",
    "save_decision": "55807586b5d36899347d685f54d1aa37df7e1723f039ee600ec52858fc7bf85b",
    "save_messages": "132d8e5addfdb71ad0fb22dedd2921515e2ad3d7dbeadfb720f1b1665e966ff7",
    "save_messages_without_remembering": "b143baac139c6868b7012009c317205c3c077de661f77b026ef5fd6af95149ac",
    "save_messages_without_summaries": "ae993d4fcd16a305e4805bb5957676c3ad701025d2d3422ca10df7bd6fc3998f",
    "search_memories": "bb25713c993ba895725183af52972edccda59be29dee95cb86775a61fabb5daf",
    "set_fact": "c6f0e493b56778f812b0e4b844534b6b7e246ef0ee218e84668974299bdd0b71",
    "set_policy": "41c602509111834e8a67039d2c21d29dc797d1de5b9b956046e41093e55ae700",
    "set_profile": "1d68f150da34716062f5b526291977f43ec72e658b50adb114c17501c4f1da83",
    "start_conversation": "d6f0bed98114ebb0f128d7ccc2d8331ee352f13ebef82876a35c4a472c398ce5",
    "start_session": "8719e2c040a27c910074350938549c730de1c663c19950099ed261cfbb11300f",
    "summarize_session": "d5cd441a2f9a04db44bb40a6af780ca1efe3922eb5d679fb4ee1f307fc813f2a",
    "take_notices": "085db599f21d2f6adcdc5fbeeb9596f3800df045e6d59d5d018c5d78e28f7871",
    "turn_memory": "e948ef32bab8debcc0baab1ab2239420f9499029b36ffe132a1fdabe03855248",
    "unrelate_decisions": "d79aa886f1f272c8124858f5f620e1037a5701c04eba07761885babff5974b42",
    "walk_anchors": "17be7f1b2717005601160c91958ab48a1296b52483bd12c07ee580676658ca4c",
    "withdraw_turn": "02274975ca93b36dcd5d8338711cf80c201dd320c61989e88df23254801b267e",
}


def test_every_shipped_plan_has_the_hash_that_was_pinned() -> None:
    """No plan is missing from the table, and none has changed."""
    assert {name: load_plan(name).hash for name in plan_names()} == PINNED
