package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.program.Program;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The pages of all caches of an engine: at most so many, made when they are first needed and used again and again. */
final class PagePool {
    private final Program program;
    private final int pages;
    private final Deque<KvPage> unused = new ArrayDeque<>();
    private int held;

    /** @param pages 1 or more */
    PagePool(Program program, int pages) {
        if (pages < 1) {
            throw new IllegalArgumentException("a pool of " + pages + " pages, expected at least 1");
        }
        this.program = program;
        this.pages = pages;
    }

    int layers() {
        return program.layers();
    }

    /** How many there are, in use or not. */
    int size() {
        return pages;
    }

    int free() {
        return pages - held;
    }

    /** Takes pages for one holder, or none where there are too few. */
    List<KvPage> take(int count) {
        if (count > free()) {
            return List.of();
        }
        List<KvPage> taken = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            KvPage page = unused.isEmpty() ? new KvPage(program.attention(), layers()) : unused.pop();
            page.hold();
            taken.add(page);
        }
        held += count;
        return taken;
    }

    /** What one holder no longer needs; a page that nobody holds is free. */
    void release(List<KvPage> pagesOfHolder) {
        for (KvPage page : pagesOfHolder) {
            if (page.letGo()) {
                page.poison();
                unused.push(page);
                held--;
            }
        }
    }
}
