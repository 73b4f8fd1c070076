/* The runtime's flat image, so that there is one file to install. */
	.section .rodata
	.balign 4096
	.globl engine_image, engine_image_end
engine_image:
	.incbin RUNTIME_IMAGE
engine_image_end:
	.section .note.GNU-stack, "", @progbits
