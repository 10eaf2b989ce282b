package uk.ac.manchester.tornado.api.enums;

/** When an array is copied between host and device. */
public class DataTransferMode {

    /** At the first execution of the graph only. */
    public static final int FIRST_EXECUTION = 0;

    /** At each execution of the graph. */
    public static final int EVERY_EXECUTION = 1;

    /** When asked for: to the host through an execution's result; to the device never. */
    public static final int UNDER_DEMAND = 2;
}
