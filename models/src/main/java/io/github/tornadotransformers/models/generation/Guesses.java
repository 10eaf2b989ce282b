package io.github.tornadotransformers.models.generation;

/**
 * @param made tokens that were guessed and run
 * @param right those of them that were chosen, each of which saved a forward pass
 */
public record Guesses(int made, int right) {
    public static final Guesses NONE = new Guesses(0, 0);
}
