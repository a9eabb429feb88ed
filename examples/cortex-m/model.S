/* The model, in flash. */
    .section .rodata.model, "a"
    .balign 16
    .global model_start, model_end
model_start:
    .incbin MODEL_FILE
model_end:
    .byte 0
