package io.github.tornadotransformers.taskgraphs.graphs;

import io.github.tornadotransformers.taskgraphs.memory.Argument;
import java.util.List;
import java.util.function.Consumer;
import uk.ac.manchester.tornado.api.TaskGraph;

/**
 * A task that lacks its kernel. There is a method for each number of arguments, as there is in {@link TaskGraph}: each argument
 * is written once, and has the type of the kernel's parameter.
 *
 * <p>The kernel must be a reference to a static method where {@code calls} is called: TornadoVM finds the method in the byte
 * code of what it is given, where a lambda around it is another method.
 */
public final class TaskCall {
    private final String id;
    private final long items;
    private final int group;
    private final Consumer<DeviceTask> tasks;

    /**
     * @param items how far the kernel's parallel loop runs, or those of whole groups
     * @param tasks takes the task once it has its kernel
     */
    public TaskCall(String id, long items, Consumer<DeviceTask> tasks) {
        this(id, items, DeviceTask.GROUP, tasks);
    }

    /**
     * @param items those of whole groups
     * @param group items of a group
     * @param tasks takes the task once it has its kernel
     */
    TaskCall(String id, long items, int group, Consumer<DeviceTask> tasks) {
        this.id = id;
        this.items = items;
        this.group = group;
        this.tasks = tasks;
    }

    private void add(Kernel kernel, DeviceTask.Call call, Argument<?>... arguments) {
        tasks.accept(new DeviceTask(id, items, group, kernel, List.of(arguments), call));
    }

    public <A, B, C> void calls(Kernel.Of3<A, B, C> kernel, Argument<A> a, Argument<B> b, Argument<C> c) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(name, kernel, a.in(arrays), b.in(arrays), c.in(arrays)),
                a,
                b,
                c);
    }

    public <A, B, C, D> void calls(
            Kernel.Of4<A, B, C, D> kernel, Argument<A> a, Argument<B> b, Argument<C> c, Argument<D> d) {
        add(
                kernel,
                (graph, name, arrays) ->
                        graph.task(name, kernel, a.in(arrays), b.in(arrays), c.in(arrays), d.in(arrays)),
                a,
                b,
                c,
                d);
    }

    public <A, B, C, D, E> void calls(
            Kernel.Of5<A, B, C, D, E> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e) {
        add(
                kernel,
                (graph, name, arrays) ->
                        graph.task(name, kernel, a.in(arrays), b.in(arrays), c.in(arrays), d.in(arrays), e.in(arrays)),
                a,
                b,
                c,
                d,
                e);
    }

    public <A, B, C, D, E, F> void calls(
            Kernel.Of6<A, B, C, D, E, F> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f);
    }

    public <A, B, C, D, E, F, G> void calls(
            Kernel.Of7<A, B, C, D, E, F, G> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g);
    }

    public <A, B, C, D, E, F, G, H> void calls(
            Kernel.Of8<A, B, C, D, E, F, G, H> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h);
    }

    public <A, B, C, D, E, F, G, H, I> void calls(
            Kernel.Of9<A, B, C, D, E, F, G, H, I> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i);
    }

    public <A, B, C, D, E, F, G, H, I, J> void calls(
            Kernel.Of10<A, B, C, D, E, F, G, H, I, J> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j);
    }

    public <A, B, C, D, E, F, G, H, I, J, K> void calls(
            Kernel.Of11<A, B, C, D, E, F, G, H, I, J, K> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L> void calls(
            Kernel.Of12<A, B, C, D, E, F, G, H, I, J, K, L> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M> void calls(
            Kernel.Of13<A, B, C, D, E, F, G, H, I, J, K, L, M> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N> void calls(
            Kernel.Of14<A, B, C, D, E, F, G, H, I, J, K, L, M, N> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O> void calls(
            Kernel.Of15<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P> void calls(
            Kernel.Of16<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o,
            Argument<P> p) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays),
                        p.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o,
                p);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q> void calls(
            Kernel.Of17<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o,
            Argument<P> p,
            Argument<Q> q) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays),
                        p.in(arrays),
                        q.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o,
                p,
                q);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R> void calls(
            Kernel.Of18<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o,
            Argument<P> p,
            Argument<Q> q,
            Argument<R> r) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays),
                        p.in(arrays),
                        q.in(arrays),
                        r.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o,
                p,
                q,
                r);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S> void calls(
            Kernel.Of19<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o,
            Argument<P> p,
            Argument<Q> q,
            Argument<R> r,
            Argument<S> s) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays),
                        p.in(arrays),
                        q.in(arrays),
                        r.in(arrays),
                        s.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o,
                p,
                q,
                r,
                s);
    }

    public <A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T> void calls(
            Kernel.Of20<A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T> kernel,
            Argument<A> a,
            Argument<B> b,
            Argument<C> c,
            Argument<D> d,
            Argument<E> e,
            Argument<F> f,
            Argument<G> g,
            Argument<H> h,
            Argument<I> i,
            Argument<J> j,
            Argument<K> k,
            Argument<L> l,
            Argument<M> m,
            Argument<N> n,
            Argument<O> o,
            Argument<P> p,
            Argument<Q> q,
            Argument<R> r,
            Argument<S> s,
            Argument<T> t) {
        add(
                kernel,
                (graph, name, arrays) -> graph.task(
                        name,
                        kernel,
                        a.in(arrays),
                        b.in(arrays),
                        c.in(arrays),
                        d.in(arrays),
                        e.in(arrays),
                        f.in(arrays),
                        g.in(arrays),
                        h.in(arrays),
                        i.in(arrays),
                        j.in(arrays),
                        k.in(arrays),
                        l.in(arrays),
                        m.in(arrays),
                        n.in(arrays),
                        o.in(arrays),
                        p.in(arrays),
                        q.in(arrays),
                        r.in(arrays),
                        s.in(arrays),
                        t.in(arrays)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h,
                i,
                j,
                k,
                l,
                m,
                n,
                o,
                p,
                q,
                r,
                s,
                t);
    }
}
