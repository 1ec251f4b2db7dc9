"""The layers of the Inception networks.

A line is a layer or, with a name and `|`, branches side by side whose outputs are joined. `C`, `M` and `A` are a convolution,
maximum pooling and average pooling, followed by the rest of the layer's name, which ends with its window; then `:` depth, `k`
another window, `/` stride, `v` or `s` for the padding VALID or SAME, `~` the deviation of its first weights. `+` puts two
layers on the same input.
"""

from __future__ import annotations

from typing import Final

INCEPTION_V1: Final = """
C1a_7x7:64/2
M2a_3x3/2
C2b_1x1:64
C2c_3x3:192
M3a_3x3/2
Mixed_3b | C0a_1x1:64 | C0a_1x1:96 C0b_3x3:128 | C0a_1x1:16 C0b_3x3:32 | M0a_3x3 C0b_1x1:32
Mixed_3c | C0a_1x1:128 | C0a_1x1:128 C0b_3x3:192 | C0a_1x1:32 C0b_3x3:96 | M0a_3x3 C0b_1x1:64
M4a_3x3/2
Mixed_4b | C0a_1x1:192 | C0a_1x1:96 C0b_3x3:208 | C0a_1x1:16 C0b_3x3:48 | M0a_3x3 C0b_1x1:64
Mixed_4c | C0a_1x1:160 | C0a_1x1:112 C0b_3x3:224 | C0a_1x1:24 C0b_3x3:64 | M0a_3x3 C0b_1x1:64
Mixed_4d | C0a_1x1:128 | C0a_1x1:128 C0b_3x3:256 | C0a_1x1:24 C0b_3x3:64 | M0a_3x3 C0b_1x1:64
Mixed_4e | C0a_1x1:112 | C0a_1x1:144 C0b_3x3:288 | C0a_1x1:32 C0b_3x3:64 | M0a_3x3 C0b_1x1:64
Mixed_4f | C0a_1x1:256 | C0a_1x1:160 C0b_3x3:320 | C0a_1x1:32 C0b_3x3:128 | M0a_3x3 C0b_1x1:128
M5a_2x2/2
Mixed_5b | C0a_1x1:256 | C0a_1x1:160 C0b_3x3:320 | C0a_1x1:32 C0a_3x3:128 | M0a_3x3 C0b_1x1:128
Mixed_5c | C0a_1x1:384 | C0a_1x1:192 C0b_3x3:384 | C0a_1x1:48 C0b_3x3:128 | M0a_3x3 C0b_1x1:128
"""

INCEPTION_V2: Final = """
C1a_7x7:64/2~1.0
M2a_3x3/2
C2b_1x1:64~0.1
C2c_3x3:192
M3a_3x3/2
Mixed_3b | C0a_1x1:64 | C0a_1x1:64~0.09 C0b_3x3:64 | C0a_1x1:64~0.09 C0b_3x3:96 C0c_3x3:96 | A0a_3x3 C0b_1x1:32~0.1
Mixed_3c | C0a_1x1:64 | C0a_1x1:64~0.09 C0b_3x3:96 | C0a_1x1:64~0.09 C0b_3x3:96 C0c_3x3:96 | A0a_3x3 C0b_1x1:64~0.1
Mixed_4a | C0a_1x1:128~0.09 C1a_3x3:160/2 | C0a_1x1:64~0.09 C0b_3x3:96 C1a_3x3:96/2 | M1a_3x3/2
Mixed_4b | C0a_1x1:224 | C0a_1x1:64~0.09 C0b_3x3:96 | C0a_1x1:96~0.09 C0b_3x3:128 C0c_3x3:128 | A0a_3x3 C0b_1x1:128~0.1
Mixed_4c | C0a_1x1:192 | C0a_1x1:96~0.09 C0b_3x3:128 | C0a_1x1:96~0.09 C0b_3x3:128 C0c_3x3:128 | A0a_3x3 C0b_1x1:128~0.1
Mixed_4d | C0a_1x1:160 | C0a_1x1:128~0.09 C0b_3x3:160
    | C0a_1x1:128~0.09 C0b_3x3:160 C0c_3x3:160 | A0a_3x3 C0b_1x1:96~0.1
Mixed_4e | C0a_1x1:96 | C0a_1x1:128~0.09 C0b_3x3:192 | C0a_1x1:160~0.09 C0b_3x3:192 C0c_3x3:192 | A0a_3x3 C0b_1x1:96~0.1
Mixed_5a | C0a_1x1:128~0.09 C1a_3x3:192/2 | C0a_1x1:192~0.09 C0b_3x3:256 C1a_3x3:256/2 | M1a_3x3/2
Mixed_5b | C0a_1x1:352 | C0a_1x1:192~0.09 C0b_3x3:320
    | C0a_1x1:160~0.09 C0b_3x3:224 C0c_3x3:224 | A0a_3x3 C0b_1x1:128~0.1
Mixed_5c | C0a_1x1:352 | C0a_1x1:192~0.09 C0b_3x3:320
    | C0a_1x1:192~0.09 C0b_3x3:224 C0c_3x3:224 | M0a_3x3 C0b_1x1:128~0.1
"""

INCEPTION_V3: Final = """
C1a_3x3:32/2
C2a_3x3:32
C2b_3x3:64s
M3a_3x3/2
C3b_1x1:80
C4a_3x3:192
M5a_3x3/2
Mixed_5b | C0a_1x1:64 | C0a_1x1:48 C0b_5x5:64 | C0a_1x1:64 C0b_3x3:96 C0c_3x3:96 | A0a_3x3 C0b_1x1:32
Mixed_5c | C0a_1x1:64 | C0b_1x1:48 Conv_1_0c_5x5:64 | C0a_1x1:64 C0b_3x3:96 C0c_3x3:96 | A0a_3x3 C0b_1x1:64
Mixed_5d | C0a_1x1:64 | C0a_1x1:48 C0b_5x5:64 | C0a_1x1:64 C0b_3x3:96 C0c_3x3:96 | A0a_3x3 C0b_1x1:64
Mixed_6a | C1a_1x1:384k3x3/2v | C0a_1x1:64 C0b_3x3:96 C1a_1x1:96k3x3/2v | M1a_3x3/2v
Mixed_6b | C0a_1x1:192 | C0a_1x1:128 C0b_1x7:128 C0c_7x1:192
    | C0a_1x1:128 C0b_7x1:128 C0c_1x7:128 C0d_7x1:128 C0e_1x7:192 | A0a_3x3 C0b_1x1:192
Mixed_6c | C0a_1x1:192 | C0a_1x1:160 C0b_1x7:160 C0c_7x1:192
    | C0a_1x1:160 C0b_7x1:160 C0c_1x7:160 C0d_7x1:160 C0e_1x7:192 | A0a_3x3 C0b_1x1:192
Mixed_6d | C0a_1x1:192 | C0a_1x1:160 C0b_1x7:160 C0c_7x1:192
    | C0a_1x1:160 C0b_7x1:160 C0c_1x7:160 C0d_7x1:160 C0e_1x7:192 | A0a_3x3 C0b_1x1:192
Mixed_6e | C0a_1x1:192 | C0a_1x1:192 C0b_1x7:192 C0c_7x1:192
    | C0a_1x1:192 C0b_7x1:192 C0c_1x7:192 C0d_7x1:192 C0e_1x7:192 | A0a_3x3 C0b_1x1:192
Mixed_7a | C0a_1x1:192 C1a_3x3:320/2v | C0a_1x1:192 C0b_1x7:192 C0c_7x1:192 C1a_3x3:192/2v | M1a_3x3/2v
Mixed_7b | C0a_1x1:320 | C0a_1x1:384 C0b_1x3:384+C0b_3x1:384
    | C0a_1x1:448 C0b_3x3:384 C0c_1x3:384+C0d_3x1:384 | A0a_3x3 C0b_1x1:192
Mixed_7c | C0a_1x1:320 | C0a_1x1:384 C0b_1x3:384+C0c_3x1:384
    | C0a_1x1:448 C0b_3x3:384 C0c_1x3:384+C0d_3x1:384 | A0a_3x3 C0b_1x1:192
"""
