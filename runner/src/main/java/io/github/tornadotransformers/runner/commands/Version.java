package io.github.tornadotransformers.runner.commands;

import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: the project's version and the JVM's. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "tornado-transformers " + ofProject(),
            "Java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
        };
    }

    static String ofProject() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not packaged)" : version;
    }
}
