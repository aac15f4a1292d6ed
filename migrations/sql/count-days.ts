// Migrations that have been released use these functions: never edit them. Add a new function for a change.

/** SQL that creates the table of row counts per day, and the statement triggers that maintain it. */
export function countDays(table: string, days: string, filters: Readonly<Record<string, string>>): string {
  const names = Object.keys(filters);
  const list = names.join(', ');
  const sum = (from: string, sign: string) =>
    `SELECT ${list}, (start_time AT TIME ZONE 'UTC')::date AS day, ${sign}1 AS rows FROM ${from}`;
  const apply = (source: string) => `
    INSERT INTO ${days} (${list}, day, rows)
    SELECT ${list}, day, sum(rows) FROM (${source}) AS changes GROUP BY ${list}, day HAVING sum(rows) <> 0
    ORDER BY ${list}, day
    ON CONFLICT (${list}, day) DO UPDATE SET rows = ${days}.rows + excluded.rows;`;
  const trigger = (event: string, source: string, tables: string) => `
    CREATE FUNCTION ${days}_${event}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN ${apply(source)} RETURN NULL; END $body$;
    CREATE TRIGGER ${days}_${event} AFTER ${event} ON ${table} REFERENCING ${tables}
      FOR EACH STATEMENT EXECUTE FUNCTION ${days}_${event}();`;
  return `
    CREATE TABLE ${days} (
      ${names.map((name) => `${name} ${filters[name]} NOT NULL`).join(', ')}, day date NOT NULL, rows bigint NOT NULL,
      PRIMARY KEY (${list}, day));
    ${trigger('insert', sum('added', ''), 'NEW TABLE AS added')}
    ${trigger('delete', sum('removed', '-'), 'OLD TABLE AS removed')}
    ${trigger('update', `${sum('added', '')} UNION ALL ${sum('removed', '-')}`, 'OLD TABLE AS removed NEW TABLE AS added')}`;
}

/** SQL that reverts `countDays`. Call it after the counted table is dropped: the triggers are dropped with that table. */
export function uncountDays(days: string): string {
  return `
    DROP TABLE ${days};
    DROP FUNCTION ${days}_insert(); DROP FUNCTION ${days}_delete(); DROP FUNCTION ${days}_update();`;
}
