/** A `timestamptz` as the canonical `Instant`, in microseconds and UTC: a JavaScript date would lose what decides the order. */
export const instantSql = (expression: string): string =>
  `to_char(${expression} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
