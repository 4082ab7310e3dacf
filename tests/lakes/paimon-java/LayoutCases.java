import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.types.DataTypes;

/** The same few rows under options that change where files lie and how metadata is stored. */
final class LayoutCases {
    private LayoutCases() {}

    static void register() {
        MakeLakes.add("manifest-orc", path -> upserts(path, "manifest.format", "orc"));
        MakeLakes.add("manifest-parquet", path -> upserts(path, "manifest.format", "parquet"));
        for (String codec : new String[] {"null", "snappy", "deflate"}) {
            MakeLakes.add("manifest-avro-" + codec, path -> once(path, "manifest.compression", codec));
        }
        MakeLakes.add("manifest-orc-none", path -> once(path, "manifest.format", "orc", "manifest.compression", "none"));
        MakeLakes.add("manifest-parquet-snappy", path -> once(path, "manifest.format", "parquet", "manifest.compression", "snappy"));
        MakeLakes.add("manifest-merged", path -> upserts(path, "manifest.merge-min-count", "2"));
        MakeLakes.add("manifest-many", path -> upserts(path, "manifest.target-file-size", "1 b"));
        MakeLakes.add("data-orc", path -> upserts(path, "file.format", "orc"));
        MakeLakes.add("data-avro", path -> once(path, "file.format", "avro"));
        MakeLakes.add("data-format-per-level", path -> upserts(path, "file.format.per.level", "0:avro,5:orc"));
        MakeLakes.add(
                "data-names",
                path -> upserts(path, "data-file.prefix", "rows-", "changelog-file.prefix", "log-", "changelog-producer", "input", "file.suffix.include.compression", "true"));
        MakeLakes.add("path-directory", path -> once(path, "data-file.path-directory", "data"));
        MakeLakes.add("default-partition-name", LayoutCases::defaultName);
        MakeLakes.add(
                "external-paths",
                path ->
                        upserts(
                                path,
                                "data-file.external-paths",
                                "file://" + path.getParent().toUri().getPath() + "/external",
                                "data-file.external-paths.strategy",
                                "round-robin"));
    }

    private static Lake upserts(Path path, String... options) throws Exception {
        Lake lake = once(path, options);
        lake.commit(Types.row(Types.date("2024-02-29"), Types.s("first"), 2), Types.row(Types.date("1969-12-31"), Types.s("third"), 3));
        lake.compact();
        return lake;
    }

    private static Lake once(Path path, String... options) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("p", DataTypes.DATE()).column("id", DataTypes.STRING()).column("n", DataTypes.INT());
        schema.partitionKeys("p").primaryKey("p", "id").option("bucket", "1").options(Lake.options(options));
        Lake lake = new Lake(path, schema.build());
        lake.commit(Types.row(Types.date("2024-02-29"), Types.s("first"), 1), Types.row(Types.date("9999-12-31"), Types.s("a second, longer key"), null));
        return lake;
    }

    private static Lake defaultName(Path path) throws Exception {
        Schema.Builder schema = AppendCases.plain().partitionKeys("name").option("partition.default-name", "nowhere");
        Lake lake = new Lake(path, schema.build());
        lake.commit(AppendCases.item(1, "somewhere"), AppendCases.item(2, null), AppendCases.item(3, ""));
        return lake;
    }
}
