package io.github.tornadotransformers.emulator;

import uk.ac.manchester.tornado.api.enums.DataTransferMode;

/** The modes of {@link DataTransferMode}. */
enum Transfer {
    FIRST_EXECUTION,
    EVERY_EXECUTION,
    UNDER_DEMAND;

    static Transfer of(int mode, String graph) {
        return switch (mode) {
            case DataTransferMode.FIRST_EXECUTION -> FIRST_EXECUTION;
            case DataTransferMode.EVERY_EXECUTION -> EVERY_EXECUTION;
            case DataTransferMode.UNDER_DEMAND -> UNDER_DEMAND;
            default ->
                throw new EmulatorException(
                        "graph %s: %d is not a transfer mode; use one of DataTransferMode".formatted(graph, mode));
        };
    }
}
