package io.github.tornadotransformers.taskgraphs;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;

/**
 * A program with its arrays.
 *
 * @param dtype of its matrices
 */
record DeviceModel(Program program, DType dtype, MathMode math, DeviceArrays arrays) {}
