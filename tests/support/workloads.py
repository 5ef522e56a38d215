"""Small traffic of each kind, for tests of the simulator."""

from interlock.adapters.simulate.workloads import Chat, Documents, Multimodal, SharedPrompts

SMALL = {
    "shared-prompts": SharedPrompts(
        requests=60, rate=60.0, prompts=6, prompt_tokens=320, question_tokens=(8, 60), answer_tokens=(2, 40)
    ),
    "chat": Chat(
        requests=60, rate=60.0, system_tokens=64, message_tokens=(8, 80), answer_tokens=(2, 60), thinking_s=0.5
    ),
    "documents": Documents(
        requests=40, rate=40.0, documents=8, document_tokens=640, question_tokens=(4, 40), answer_tokens=(2, 40)
    ),
    "multimodal": Multimodal(
        requests=60, rate=60.0, system_tokens=16, image_tokens=96, popular=6, share=0.8, question_tokens=(4, 40),
        answer_tokens=(2, 40),
    ),
}  # fmt: skip
"""The workloads that ship, in a size that fits a test."""
