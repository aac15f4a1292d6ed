// The accounts table of a peer, and its statement for a new account.

export const CREATE_TABLE = `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE TABLE peer_accounts (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    email text,
    address jsonb,
    contact jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    searched text NOT NULL GENERATED ALWAYS AS (lower(name || ' A-' || number::text || ' ' || coalesce(email, ''))) STORED
  );
  CREATE UNIQUE INDEX peer_accounts_name ON peer_accounts (lower(name));
  CREATE INDEX peer_accounts_number ON peer_accounts (number);
  CREATE INDEX peer_accounts_search ON peer_accounts USING gin (searched gin_trgm_ops)`;

/** As a prepared statement of pg; no row where the name is taken. */
export function insertOf({ accountName, billingAddress, primaryContact }) {
  return {
    name: 'insert',
    text: `INSERT INTO peer_accounts (name, email, address, contact) VALUES ($1, $2, $3, $4)
           ON CONFLICT DO NOTHING RETURNING id, number`,
    values: [
      accountName,
      primaryContact?.email ?? null,
      billingAddress === undefined ? null : JSON.stringify(billingAddress),
      primaryContact === undefined ? null : JSON.stringify(primaryContact),
    ],
  };
}
