package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.EngineException;

/** The caches of a batch's sequences need more memory than the engine has left for them. */
public final class CacheFullException extends EngineException {
    /**
     * @param wanted pages that are needed
     * @param free pages that are left
     * @param pages of the engine
     * @param positions of a page
     */
    public CacheFullException(int wanted, int free, int pages, int positions) {
        super("the batch needs " + wanted + " more pages of the key-value cache, of " + positions
                + " positions each, but " + free + " of " + pages
                + " are free: run fewer sequences together, or give the cache more memory");
    }
}
