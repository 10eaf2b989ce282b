package io.github.tornadotransformers.runner.commands;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: the project's version and the JVM's. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {
            "tornado-transformers " + (version == null ? "(not packaged)" : version),
            "Java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
        };
    }
}
