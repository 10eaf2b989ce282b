package io.github.tornadotransformers.taskgraphs.graphs;

import java.io.Serializable;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import java.util.Arrays;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task10;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task11;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task12;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task13;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task14;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task15;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task16;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task17;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task18;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task19;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task20;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task3;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task4;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task5;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task6;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task7;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task8;
import uk.ac.manchester.tornado.api.common.TornadoFunctions.Task9;

/**
 * A reference to a kernel, as TornadoVM takes it, that knows which method it refers to: the compiler keeps that for references that
 * could be written down.
 */
public interface Kernel extends Serializable {
    /**
     * The method, whose parameters have their names.
     *
     * @throws IllegalStateException if this is no reference to a static method
     */
    default Method method() {
        try {
            Method written = getClass().getDeclaredMethod("writeReplace");
            written.setAccessible(true);
            SerializedLambda reference = (SerializedLambda) written.invoke(this);
            Class<?> owner = Class.forName(reference.getImplClass().replace('/', '.'));
            return Arrays.stream(owner.getDeclaredMethods())
                    .filter(each -> each.getName().equals(reference.getImplMethodName()))
                    .findFirst()
                    .orElseThrow();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a kernel is a reference to a static method", e);
        }
    }

    /** Of 3 arguments. */
    @FunctionalInterface
    interface Of3<A, B, C> extends Task3<A, B, C>, Kernel {}

    /** Of 4 arguments. */
    @FunctionalInterface
    interface Of4<A, B, C, D> extends Task4<A, B, C, D>, Kernel {}

    /** Of 5 arguments. */
    @FunctionalInterface
    interface Of5<A, B, C, D, E> extends Task5<A, B, C, D, E>, Kernel {}

    /** Of 6 arguments. */
    @FunctionalInterface
    interface Of6<A, B, C, D, E, F> extends Task6<A, B, C, D, E, F>, Kernel {}

    /** Of 7 arguments. */
    @FunctionalInterface
    interface Of7<A, B, C, D, E, F, G> extends Task7<A, B, C, D, E, F, G>, Kernel {}

    /** Of 8 arguments. */
    @FunctionalInterface
    interface Of8<A, B, C, D, E, F, G, H> extends Task8<A, B, C, D, E, F, G, H>, Kernel {}

    /** Of 9 arguments. */
    @FunctionalInterface
    interface Of9<A, B, C, D, E, F, G, H, I> extends Task9<A, B, C, D, E, F, G, H, I>, Kernel {}

    /** Of 10 arguments. */
    @FunctionalInterface
    interface Of10<A, B, C, D, E, F, G, H, I, J> extends Task10<A, B, C, D, E, F, G, H, I, J>, Kernel {}

    /** Of 11 arguments. */
    @FunctionalInterface
    interface Of11<A, B, C, D, E, F, G, H, I, J, K> extends Task11<A, B, C, D, E, F, G, H, I, J, K>, Kernel {}

    /** Of 12 arguments. */
    @FunctionalInterface
    interface Of12<A, B, C, D, E, F, G, H, I, J, K, L> extends Task12<A, B, C, D, E, F, G, H, I, J, K, L>, Kernel {}

    /** Of 13 arguments. */
    @FunctionalInterface
    interface Of13<A, B, C, D, E, F, G, H, I, J, K, L, M>
            extends Task13<A, B, C, D, E, F, G, H, I, J, K, L, M>, Kernel {}

    /** Of 14 arguments. */
    @FunctionalInterface
    interface Of14<A, B, C, D, E, F, G, H, I, J, K, L, M, N>
            extends Task14<A, B, C, D, E, F, G, H, I, J, K, L, M, N>, Kernel {}

    /** Of 15 arguments. */
    @FunctionalInterface
    interface Of15<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O>
            extends Task15<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O>, Kernel {}

    /** Of 16 arguments. */
    @FunctionalInterface
    interface Of16<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P>
            extends Task16<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P>, Kernel {}

    /** Of 17 arguments. */
    @FunctionalInterface
    interface Of17<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q>
            extends Task17<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q>, Kernel {}

    /** Of 18 arguments. */
    @FunctionalInterface
    interface Of18<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R>
            extends Task18<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R>, Kernel {}

    /** Of 19 arguments. */
    @FunctionalInterface
    interface Of19<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S>
            extends Task19<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S>, Kernel {}

    /** Of 20 arguments. */
    @FunctionalInterface
    interface Of20<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T>
            extends Task20<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T>, Kernel {}
}
