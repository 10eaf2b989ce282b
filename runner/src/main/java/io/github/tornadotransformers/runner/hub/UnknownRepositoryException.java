package io.github.tornadotransformers.runner.hub;

/** The hub has no repository of that name. */
final class UnknownRepositoryException extends RuntimeException {
    UnknownRepositoryException(String message) {
        super(message);
    }
}
