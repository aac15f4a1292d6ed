// The one statement that a peer runs for a ticket, and the table that it fills.

export const CREATE_TABLE = `
  CREATE TABLE peer_tickets (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL,
    inbound_number text COLLATE "C",
    inbound_updated_at timestamptz,
    outbound_number text COLLATE "C",
    outbound_updated_at timestamptz,
    materials jsonb NOT NULL,
    custom_fields jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (site_id, inbound_number)
  )`;

const UPSERT = `
  INSERT INTO peer_tickets
    (id, site_id, inbound_number, inbound_updated_at, outbound_number, outbound_updated_at, materials, custom_fields)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (site_id, inbound_number) DO UPDATE
    SET inbound_updated_at = excluded.inbound_updated_at,
        outbound_number = excluded.outbound_number,
        outbound_updated_at = excluded.outbound_updated_at,
        materials = excluded.materials,
        custom_fields = excluded.custom_fields,
        updated_at = now()
  RETURNING id`;

/** As a prepared statement of pg. */
export const upsertOf = (id, push) => ({ name: 'upsert', text: UPSERT, values: valuesOf(id, push) });

/** The columns of a ticket from its id to its custom fields. */
export const valuesOf = (id, { siteId, inboundFlow, outboundFlow, materials, customFields }) => [
  id,
  siteId,
  inboundFlow?.ticketNumber ?? null,
  inboundFlow?.updatedAt ?? null,
  outboundFlow?.ticketNumber ?? null,
  outboundFlow?.updatedAt ?? null,
  JSON.stringify(materials),
  customFields === undefined ? null : JSON.stringify(customFields),
];
