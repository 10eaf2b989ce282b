package io.github.tornadotransformers.taskgraphs.memory;

import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.taskgraphs.devices.MathMode;

/**
 * A program with its arrays.
 *
 * @param dtype of its matrices
 */
public record DeviceModel(Program program, DType dtype, MathMode math, DeviceArrays arrays) {}
