-- Questions that `metalens query` and DuckDB must answer alike, over any dataset, or that
-- `metalens query` must refuse. scripts/check-dataset asks both; each ends with a semicolon.

-- Rows, conditions, three-valued logic.
SELECT run, busy_ns, window_ns FROM runs;
SELECT count(*) FROM intervals;
SELECT count(*), count(encoder), count(DISTINCT kernel) FROM intervals WHERE role = 'analyzed';
SELECT run, count(*) FROM gaps WHERE duration_ns > 10000 AND NOT (submission_ns = 0 OR cause = 'host') GROUP BY run;
SELECT count(*) FROM intervals WHERE encoder IS NULL OR encoder IS NOT NULL;
SELECT count(*) FROM intervals WHERE (encoder > 0) IS NOT TRUE;
SELECT count(*) FROM intervals WHERE kernel IS DISTINCT FROM 'nobody';
SELECT count(*) FROM gaps WHERE duration_ns BETWEEN 1000 AND 20000;
SELECT count(*) FROM gaps WHERE duration_ns NOT BETWEEN 1000 AND 20000;
SELECT count(*) FROM intervals WHERE role IN ('analyzed', 'other') AND channel NOT IN ('Vertex');
SELECT count(*) FROM gaps WHERE duration_ns IN (1,2,3,4,5,6,7,8,9,10,11,12,13,NULL);
SELECT count(*) FROM gaps WHERE duration_ns NOT IN (1,2,3,4,5,6,7,8,9,10,11,12,13,NULL);
SELECT count(*) FROM runs WHERE date >= '2000-01-01' OR date IS NULL;

-- Whole numbers, fractions, dates.
SELECT 7 // 2 AS a, 7 % 3 AS b, 7 / 2 AS c, 2 + 3 * 4 AS e, (2 + 3) * 4 AS f, - 5 AS g;
SELECT 1e3 AS a, 0.5 + 1 AS b, 9223372036854775807 AS c, 10 / 4 * 4 AS d, 1.5e-3 * 2 AS e;
SELECT run, busy_ns * 100.0 / window_ns AS share, busy_ns + gaps_ns - window_ns AS nothing FROM runs;
SELECT DATE '2026-03-01' - DATE '2026-02-01' AS days, year(DATE '2026-03-01') AS y, month(DATE '2026-03-01') AS m, day(DATE '2026-03-31') AS d;
SELECT abs(-5) AS a, abs(-2.5) AS b, floor(2.7) AS c, ceil(2.2) AS d, round(2.567, 2) AS e, sqrt(16.0) AS g, pow(2.0, 10.0) AS h, sign(-3) AS i, ln(1.0) AS j, log10(1000.0) AS k, exp(0.0) AS l;
SELECT CAST('12' AS BIGINT) AS a, CAST(3.0 AS BIGINT) AS b, CAST(5 AS DOUBLE) AS c, CAST(true AS BIGINT) AS d, TRY_CAST('x' AS BIGINT) AS e, '7'::BIGINT AS f, CAST(12 AS VARCHAR) AS g, CAST(DATE '2026-01-02' AS VARCHAR) AS h;
SELECT greatest(1, 5, 3) AS a, least(4, 2, NULL) AS b, coalesce(NULL, 3) AS c, nullif(4, 4) AS d, nullif(4, 5) AS e, if(2 > 1, 'yes', 'no') AS f;

-- Text.
SELECT lower('GeMM') AS a, upper('gemm') AS b, length('größe') AS c, substr('kernel', 2, 3) AS d, replace('a_b_c', '_', '-') AS e, 'a' || 'b' || 1 AS f, trim('  x ') AS g, strpos('kernel', 'rn') AS h, starts_with('gemm', 'ge') AS i, ends_with('gemm', 'mm') AS j, contains('gemm', 'em') AS k, concat('a', NULL, 2) AS l;
SELECT kernel, 'gemm_f16' LIKE 'gemm%' AS a, 'gemm_f16' LIKE 'gemm_f16' AS b, 'GEMM' ILIKE 'g%m' AS c, 'a%b' LIKE 'a\%b' ESCAPE '\' AS d, kernel NOT LIKE '%e%' AS e FROM kernels;
SELECT DISTINCT kernel FROM kernels WHERE kernel LIKE '%a%' OR kernel LIKE '_e%';
SELECT kernel, regexp_matches(kernel, '[0-9]+') AS a, regexp_extract(kernel, '([a-z]+)', 1) AS b, regexp_replace(kernel, '[aeiou]', '') AS c FROM kernels;

-- Groups.
SELECT run, cause, count(*) AS n, sum(duration_ns) AS ns, avg(duration_ns) AS mean, min(duration_ns), max(duration_ns) FROM gaps GROUP BY run, cause ORDER BY run, ns DESC;
SELECT channel, kernel, sum(total_ns) AS total FROM kernels GROUP BY ALL ORDER BY total DESC, channel, kernel LIMIT 3;
SELECT duration_ns // 10000 AS bucket, count(*) FROM gaps GROUP BY bucket ORDER BY 1;
SELECT duration_ns // 10000 AS bucket, count(*) FROM gaps GROUP BY 1 HAVING count(*) > 1 ORDER BY 1;
SELECT k.run, sum(k.instances) * 1.0 / count(*) AS per_kernel FROM kernels k GROUP BY k.run;
SELECT sum(duration_ns), avg(duration_ns), count(*) FROM gaps WHERE duration_ns < 0;
SELECT run, sum(CASE WHEN cause = 'submission' THEN duration_ns ELSE 0 END) AS launch, count(*) FILTER (WHERE cause <> 'submission') AS others FROM gaps GROUP BY run;
SELECT run, sum(duration_ns) FILTER (WHERE duration_ns > 5000) AS long FROM gaps GROUP BY run;
SELECT run, median(duration_ns), quantile_cont(duration_ns, 0.9), quantile_disc(duration_ns, 0.9), stddev(duration_ns), var_pop(duration_ns) FROM gaps GROUP BY run;
SELECT quantile_disc(duration_ns, 0.5), quantile_disc(duration_ns, 0.99), percentile_cont(0.25) WITHIN GROUP (ORDER BY duration_ns) FROM gaps;
SELECT run, bool_and(duration_ns > 0), bool_or(duration_ns > 1000000) FROM gaps GROUP BY run;
SELECT count(DISTINCT duration_ns), sum(DISTINCT duration_ns) FROM gaps;
SELECT upper(cause) AS c, sum(duration_ns) + sum(submission_ns) AS two FROM gaps GROUP BY upper(cause) ORDER BY two DESC, c;
SELECT CASE cause WHEN 'submission' THEN 'l' WHEN 'host' THEN 'h' END AS c, count(*) FROM gaps GROUP BY 1 ORDER BY c NULLS FIRST;
SELECT max(kernel), min(channel), max(date) FROM kernels;
SELECT count(*) FROM runs HAVING count(*) > 100000;

-- The same work on several chips, as docs/dataset.md asks.
SELECT process, interval_count, command_buffer_count, kernel_count, gpu, count(*) AS recordings, median(busy_ratio) AS busy, median(window_ns) AS window_ns FROM runs GROUP BY process, interval_count, command_buffer_count, kernel_count, gpu;

-- Order.
SELECT duration_ns FROM gaps ORDER BY duration_ns DESC LIMIT 5;
SELECT run, encoder FROM intervals WHERE role = 'analyzed' ORDER BY encoder DESC NULLS LAST, start_ns, run LIMIT 7 OFFSET 2;
SELECT kernel, total_ns FROM kernels ORDER BY total_ns / instances DESC, kernel, run LIMIT 4;
SELECT run FROM runs ORDER BY busy_ns DESC, run;
SELECT DISTINCT cause FROM gaps ORDER BY cause DESC;
SELECT duration_ns AS x FROM gaps ORDER BY -x, run LIMIT 3;

-- Joins.
SELECT r.input, g.cause, count(*) AS gaps, sum(g.duration_ns) AS ns FROM gaps g JOIN runs r ON g.run = r.run GROUP BY r.input, g.cause ORDER BY ns DESC, r.input, g.cause;
SELECT r.run, k.kernel FROM runs r LEFT JOIN kernels k ON r.run = k.run AND k.total_ns > 1000000 ORDER BY 1, 2;
SELECT r.run, k.kernel FROM kernels k RIGHT JOIN runs r ON r.run = k.run AND k.kernel = 'nobody' ORDER BY 1, 2;
SELECT count(*), count(a.run), count(b.run) FROM (SELECT run FROM runs LIMIT 1) a FULL JOIN (SELECT DISTINCT run FROM gaps) b ON a.run = b.run;
SELECT count(*) FROM runs, kernels WHERE runs.run = kernels.run AND kernels.total_ns > 0;
SELECT count(*) FROM runs a CROSS JOIN runs b;
SELECT count(*) FROM runs a JOIN runs b ON a.busy_ns < b.busy_ns;
SELECT run, sum(k.total_ns) FROM runs JOIN kernels k USING (run) GROUP BY run;
SELECT * FROM (SELECT busy_ns, run FROM runs WHERE busy_ns > 5000000) a RIGHT JOIN (SELECT kernel, run FROM kernels) b USING (run);
SELECT * FROM (SELECT busy_ns, run FROM runs WHERE busy_ns > 5000000) a NATURAL RIGHT JOIN (SELECT kernel, run FROM kernels) b;
SELECT a.run, b.run, run, cause FROM (SELECT run FROM runs WHERE busy_ns > 5000000) a FULL JOIN (SELECT DISTINCT run, cause FROM gaps) b USING (run);
SELECT count(a.run), count(b.run), count(run) FROM (SELECT run FROM runs WHERE busy_ns > 5000000) a FULL JOIN (SELECT run FROM runs WHERE busy_ns < 5000000) b USING (run);
SELECT a.kernel, a.total_ns, b.total_ns FROM kernels a JOIN kernels b ON a.kernel = b.kernel AND a.channel = b.channel AND a.run < b.run ORDER BY 1, 2, 3;
SELECT count(*) FROM intervals i JOIN gaps g ON i.run = g.run AND i.end_ns = g.start_ns WHERE i.role = 'analyzed';

-- Queries inside queries.
WITH long AS (SELECT * FROM gaps WHERE duration_ns > 10000) SELECT run, count(*) FROM long GROUP BY run;
WITH a AS (SELECT run, max(duration_ns) AS longest FROM gaps GROUP BY run), b(run, busy) AS (SELECT run, busy_ns FROM runs) SELECT a.run, longest, busy FROM a JOIN b ON a.run = b.run;
SELECT kernel FROM kernels WHERE total_ns = (SELECT max(total_ns) FROM kernels);
SELECT count(*) FROM gaps WHERE run IN (SELECT run FROM runs WHERE busy_ns > 1000);
SELECT count(*) FROM gaps WHERE run NOT IN (SELECT run FROM runs WHERE busy_ns > 1000);
SELECT run FROM runs WHERE EXISTS (SELECT 1 FROM gaps WHERE duration_ns > 1000) AND NOT EXISTS (SELECT 1 FROM gaps WHERE duration_ns < 0);
SELECT avg(n) FROM (SELECT run, count(*) AS n FROM gaps GROUP BY run) AS counts;
SELECT x.n, x.n * 2 AS twice FROM (SELECT count(*) AS n FROM runs) x;
SELECT run, busy_ns - (SELECT min(busy_ns) FROM runs) AS more FROM runs;

-- Sets.
SELECT run FROM runs UNION ALL SELECT run FROM kernels;
SELECT cause FROM gaps UNION SELECT channel FROM kernels ORDER BY 1;
SELECT run FROM gaps EXCEPT SELECT run FROM runs WHERE busy_ns > 5000000;
SELECT run FROM gaps INTERSECT SELECT run FROM kernels;
SELECT count(*) FROM (SELECT run FROM kernels UNION ALL SELECT run FROM runs) AS a;
SELECT 1 AS x UNION ALL SELECT 2.5;

-- Windows.
SELECT run, duration_ns, row_number() OVER (PARTITION BY run ORDER BY start_ns) AS n FROM gaps;
SELECT kernel, run, rank() OVER (PARTITION BY run ORDER BY instances DESC) AS r, dense_rank() OVER (PARTITION BY run ORDER BY instances DESC) AS d FROM kernels;
SELECT run, start_ns, sum(duration_ns) OVER (PARTITION BY run ORDER BY start_ns) AS so_far, sum(duration_ns) OVER (PARTITION BY run) AS in_all FROM gaps;
SELECT run, start_ns, lag(start_ns) OVER (PARTITION BY run ORDER BY start_ns) AS before, lead(start_ns, 2, 0) OVER (PARTITION BY run ORDER BY start_ns) AS after FROM gaps;
SELECT run, start_ns, avg(duration_ns) OVER (PARTITION BY run ORDER BY start_ns ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth, max(duration_ns) OVER (PARTITION BY run ORDER BY start_ns ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS most FROM gaps;
SELECT run, cause, count(*) OVER (PARTITION BY run ORDER BY cause) AS n FROM gaps;
SELECT run, start_ns, first_value(cause) OVER (PARTITION BY run ORDER BY start_ns) AS f FROM gaps;
SELECT run, start_ns, last_value(cause) OVER (PARTITION BY run ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM gaps;
SELECT run, cause, sum(duration_ns) AS ns, sum(sum(duration_ns)) OVER (PARTITION BY run) AS all_ns, sum(duration_ns) * 1.0 / sum(sum(duration_ns)) OVER (PARTITION BY run) AS share FROM gaps GROUP BY run, cause;
SELECT run, kernel, total_ns FROM kernels QUALIFY row_number() OVER (PARTITION BY run ORDER BY total_ns DESC, kernel) <= 2;
SELECT run, ntile(4) OVER (PARTITION BY run ORDER BY start_ns) AS quarter FROM gaps;
SELECT run, percent_rank() OVER (PARTITION BY run ORDER BY duration_ns) AS p, cume_dist() OVER (PARTITION BY run ORDER BY duration_ns) AS c FROM gaps;
SELECT lower(cause) AS cause, count(*) FROM gaps GROUP BY cause;
SELECT count(*) FROM kernels WHERE kernel IN (SELECT kernel FROM intervals WHERE role = 'analyzed');
SELECT sum(busy_ns) OVER () AS all_busy, count(*) OVER () AS n FROM runs;
SELECT kernel, sum(total_ns) AS t, 100.0 * sum(total_ns) / (SELECT sum(total_ns) FROM kernels) AS share FROM kernels GROUP BY kernel HAVING sum(total_ns) > 1000 ORDER BY t DESC, kernel;
SELECT r.run, sum(g.duration_ns), r.gaps_ns FROM runs r LEFT JOIN gaps g USING (run) GROUP BY r.run, r.gaps_ns;
SELECT a.run, b.run FROM runs a FULL JOIN (SELECT run FROM runs WHERE busy_ns > 20000000) b ON a.run = b.run;
SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM intervals GROUP BY run, channel);
SELECT run, n FROM (SELECT run, row_number() OVER (ORDER BY busy_ns DESC, run) AS n FROM runs) AS ranked WHERE n <= 2;
SELECT run, start_ns, row_number() OVER w AS n FROM gaps WINDOW w AS (PARTITION BY run ORDER BY duration_ns DESC, start_ns);

-- Busy time, as the README explains it: the union of overlapping intervals.
WITH rows AS (SELECT run, start_ns, end_ns, max(end_ns) OVER (PARTITION BY run ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM intervals WHERE role = 'analyzed') SELECT run, sum(greatest(end_ns - greatest(start_ns, coalesce(before, 0)), 0)) AS busy FROM rows GROUP BY run;

-- Stars: DuckDB has the folders' columns last, so that only some are shown.
SELECT run, kernel, total_ns FROM (SELECT * FROM kernels) AS k;
SELECT x.busy_ns, x.kernel FROM (SELECT k.*, r.busy_ns FROM kernels k JOIN runs r ON k.run = r.run) AS x;
SELECT x.run, x.start_ns FROM (SELECT * EXCLUDE (device, date) FROM gaps) AS x;

-- IS [NOT] DISTINCT FROM binds closer than AND and OR.
SELECT count(*) FROM gaps WHERE serialized IS NOT DISTINCT FROM true AND duration_ns > 200000;
SELECT count(*) FROM gaps WHERE serialized IS DISTINCT FROM true AND duration_ns > 100000;
SELECT count(*) FROM gaps WHERE serialized IS DISTINCT FROM true OR duration_ns > 100000;
SELECT count(*) FROM gaps WHERE duration_ns > 1000 AND cause IS DISTINCT FROM 'host' OR false;
SELECT count(*) FROM gaps a JOIN gaps b ON a.run = b.run AND a.serialized IS NOT DISTINCT FROM b.serialized AND a.start_ns = b.start_ns;

-- SQL that many write.
SELECT r.run, count(k.kernel) FROM runs r LEFT JOIN kernels k ON r.run = k.run AND k.total_ns > 5 GROUP BY r.run;
SELECT run FROM runs r WHERE EXISTS (SELECT 1 FROM gaps g WHERE g.run = r.run AND g.duration_ns > 1000);
SELECT run, (SELECT max(duration_ns) FROM gaps g WHERE g.run = r.run) AS longest FROM runs r;
SELECT kernel FROM kernels WHERE total_ns >= ALL (SELECT total_ns FROM kernels);
SELECT count(*) FROM kernels WHERE total_ns > ANY (SELECT total_ns FROM kernels);
SELECT cause, count(*) AS n FROM gaps GROUP BY cause HAVING n > 1;
SELECT run, kernel, row_number() OVER (PARTITION BY run ORDER BY total_ns DESC, kernel) AS place FROM kernels QUALIFY place = 1;
SELECT date_trunc('month', date) AS month, count(*) FROM runs GROUP BY 1;
SELECT strftime(date, '%Y-%m') AS month, count(*) FROM runs GROUP BY 1;
SELECT count(*) FROM runs WHERE date > DATE '2026-01-01' - INTERVAL '30 days';
SELECT run, string_agg(kernel, ',' ORDER BY kernel) AS all_kernels FROM kernels GROUP BY run;
SELECT corr(start_ns, duration_ns) FROM gaps;
SELECT left('kernel', 3) AS a, right('kernel', 2) AS b, ltrim('  x') AS c, rtrim('x  ') AS d;
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, t);
SELECT DISTINCT ON (run) run, kernel FROM kernels ORDER BY run, total_ns DESC, kernel;
SELECT run, nth_value(cause, 2) OVER (PARTITION BY run ORDER BY start_ns) AS second FROM gaps;
SELECT run FROM kernels EXCEPT ALL SELECT run FROM runs;
SELECT cause, count(*) FROM gaps GROUP BY ROLLUP (cause);
SELECT count(*) FROM RUNS;
SELECT run, duration_ns FROM gaps ORDER BY run, duration_ns DESC, start_ns LIMIT 1 + 1;
SELECT 'a' || 1 + 2 AS x;

-- Where an engine could differ without a word: overflow, division, nulls, order, names.
SELECT run, encoder FROM intervals WHERE role = 'other' OR encoder < 20 ORDER BY encoder DESC, start_ns, run LIMIT 5;
SELECT encoder FROM intervals ORDER BY encoder, run, start_ns LIMIT 3;
SELECT count(DISTINCT encoder), count(encoder), max(encoder) - min(encoder) FROM intervals;
SELECT avg(encoder), sum(encoder) FROM intervals WHERE encoder IS NULL;
SELECT cause = NULL AS a, NULL IS NULL AS b, NULL AND false AS c, NULL OR true AS d FROM gaps LIMIT 1;
SELECT max(CASE WHEN encoder IS NULL THEN 1 END), min(nullif(cause, 'host')) FROM intervals, (SELECT cause FROM gaps LIMIT 3) AS g;
SELECT round(0.4) AS a, round(1.5) AS b, round(2.6) AS c, CAST('1.5' AS DOUBLE) AS f;
SELECT severity, count(*) FROM findings GROUP BY severity;
SELECT f.finding, r.input, f.gain_saves_ns * 1.0 / r.window_ns AS share FROM findings f JOIN runs r USING (run) WHERE f.gain_saves_ns IS NOT NULL;

-- Counters, and kernels by phase.
SELECT counter, count(*), max(value) FROM counters GROUP BY counter;
SELECT phase, kernel, sum(total_ns) AS ns, sum(instances) AS n FROM phase_kernels GROUP BY phase, kernel ORDER BY ns DESC, phase, kernel;
SELECT p.run, p.phase, sum(p.total_ns) * 100.0 / max(r.sum_ns) AS share FROM phase_kernels p JOIN runs r USING (run) GROUP BY p.run, p.phase;
