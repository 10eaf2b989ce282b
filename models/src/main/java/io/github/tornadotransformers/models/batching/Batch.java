package io.github.tornadotransformers.models.batching;

import java.util.List;

/**
 * What an engine runs in one go.
 *
 * @param spans each of another sequence
 */
public record Batch(List<Span> spans) {
    public Batch {
        spans = List.copyOf(spans);
    }

    public static Batch of(Span... spans) {
        return new Batch(List.of(spans));
    }
}
