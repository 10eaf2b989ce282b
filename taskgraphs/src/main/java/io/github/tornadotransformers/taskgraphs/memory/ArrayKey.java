package io.github.tornadotransformers.taskgraphs.memory;

import uk.ac.manchester.tornado.api.types.arrays.TornadoNativeArray;

/**
 * What an array on the device is for. Equal keys are one array; as text a key names it in messages.
 *
 * @param <T> TornadoVM's class for the array
 */
public interface ArrayKey<T extends TornadoNativeArray> {
    ElementType<T> type();
}
