package io.github.tornadotransformers.models.generation;

/**
 * The largest logits of a position, all of whose logits are finite: larger first, and the lower id first where they are equal.
 *
 * @param ids of the tokens
 * @param logits of these
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record Candidates(int[] ids, float[] logits) {}
