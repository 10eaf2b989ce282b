package io.github.tornadotransformers.models.batching;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntConsumer;

/** Counts who holds which page of an engine's memory for keys and values. Pages are numbers, from 0 on; the lowest are taken first. */
final class PagePool {
    private final int pages;
    private final IntConsumer freed;
    private IntConsumer reclaimer = _ -> {};
    private final Deque<Integer> unused = new ArrayDeque<>();
    /** Of each page that was ever taken. */
    private final List<Integer> holders = new ArrayList<>();

    private int held;
    private int shared;

    /**
     * @param pages 1 or more
     * @param freed is told of a page that nobody holds any more
     */
    PagePool(int pages, IntConsumer freed) {
        if (pages < 1) {
            throw new IllegalArgumentException("a pool of " + pages + " pages, expected at least 1");
        }
        this.pages = pages;
        this.freed = freed;
    }

    /** How many there are, in use or not. */
    int size() {
        return pages;
    }

    int free() {
        return pages - held;
    }

    /** @param reclaimer is asked to let go of so many pages where they are wanted and not free; it may have fewer */
    void reclaimFrom(IntConsumer reclaimer) {
        this.reclaimer = reclaimer;
    }

    /** Whether so many are free, or can be made free. */
    boolean provides(int count) {
        if (count > free()) {
            reclaimer.accept(count - free());
        }
        return count <= free();
    }

    CacheUse use() {
        return new CacheUse(pages, held, shared);
    }

    /** How many hold a page. */
    int holders(int page) {
        return holders.get(page);
    }

    /** Takes pages for one holder, or none where there are too few. */
    List<Integer> take(int count) {
        if (!provides(count)) {
            return List.of();
        }
        List<Integer> taken = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int page = unused.isEmpty() ? add() : unused.pop();
            hold(page);
            taken.add(page);
        }
        held += count;
        return taken;
    }

    private int add() {
        holders.add(0);
        return holders.size() - 1;
    }

    /** Counts one more holder of a page that has one. */
    void hold(int page) {
        count(page, 1);
    }

    private void count(int page, int change) {
        int before = holders.get(page);
        int after = before + change;
        holders.set(page, after);
        shared += (after > 1 ? 1 : 0) - (before > 1 ? 1 : 0);
    }

    /** What one holder no longer needs; a page that nobody holds is free. */
    void release(List<Integer> pagesOfHolder) {
        for (int page : pagesOfHolder) {
            count(page, -1);
            if (holders.get(page) == 0) {
                freed.accept(page);
                unused.push(page);
                held--;
            }
        }
    }
}
