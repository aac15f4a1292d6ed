import { useState } from 'preact/hooks';
import type { ApiKey, IssuedApiKey } from '../../../contracts/admin/api-key.dto.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { change, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useConnectionChoices, useHaulers } from '../../client/haulers.js';
import { FieldErrorOf } from '../../parts/field-errors.js';
import { localInput } from '../../parts/filters.js';
import { bodyOf, Form, Input, instantOf, Select } from '../../parts/forms.js';
import { Secret, wholeTime } from '../../parts/values.js';
import { NextStep } from '../haulers/hauler-setup.js';
import { Card } from '../../parts/states.js';

const YEAR_MS = 365 * 86_400_000;
const OVERLAPS = [
  ['86400', '24 hours'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'none: the old key ends at the first use of the new one'],
] as const;

const ROTATION =
  'The old key works until the new one is first used, and for the overlap after that. The new key works at once.';

interface RotateFormProps {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

export function RotateForm({ apiKey, onRotated, onCancel }: RotateFormProps) {
  const rotate = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', `/api-keys/${string}/rotate`>>(values, {
      overlapSeconds: Number,
      expiresAt: instantOf,
    });
    onRotated(await send('POST', `/api-keys/${apiKey.id}/rotate`, body));
  };
  return (
    <Form
      title={`Rotate ${apiKey.prefix}… ${apiKey.name ?? ''}`}
      submit="Rotate the key"
      work={rotate}
      onCancel={onCancel}
    >
      <p class="hint">{ROTATION}</p>
      {apiKey.expiresAt !== null && (
        <Input
          name="expiresAt"
          label="The new key expires"
          type="datetime-local"
          value={localInput(new Date(Date.now() + YEAR_MS))}
          isRequired
          hint={`the old key expires ${wholeTime(apiKey.expiresAt)}`}
        />
      )}
      <Select name="overlapSeconds" label="Overlap after the first use of the new key" choices={OVERLAPS} />
    </Form>
  );
}

export interface NewKeyProps {
  readonly issued: IssuedApiKey;
  readonly isRotation: boolean;
  readonly onClose: () => void;
}

export const NewKey = ({ issued, isRotation, onClose }: NewKeyProps) => (
  <Card title={isRotation ? 'The key is rotated' : 'The key is issued'} label="New key" kind="highlight">
    {isRotation && <p class="hint">{ROTATION}</p>}
    {!isRotation && issued.haulerId !== null && <NextStep haulerId={issued.haulerId} />}
    <Secret of="key" value={issued.key} onClose={onClose} />
  </Card>
);

const NO_CONNECTION = ['', 'None: the key opens the interfaces above'] as const;
const ALL_HAULERS = ['', 'All haulers (site and vision only)'] as const;

export function IssueForm({ query, onIssued }: PageProps & { onIssued: (key: IssuedApiKey) => void }) {
  const { choices } = useHaulers();
  const connections = useConnectionChoices() ?? [];
  const [chosen, setChosen] = useState((query.get('interfaces') ?? '').split(','));
  const cancel = () => change({ new: undefined, interfaces: undefined });
  const issue = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', '/api-keys'>>(values, {
      interfaces: (_, all) => INTERFACES.filter((each) => all.includes(each)),
      allCustomers: () => true,
      expiresAt: instantOf,
    });
    onIssued(await send('POST', '/api-keys', body));
  };
  return (
    <Form title="New key" submit="Issue the key" work={issue} onCancel={cancel}>
      <Input name="name" label="Name" hint="who uses it, such as “Weighbridge north”" />
      <fieldset class="choice">
        <legend>Interfaces</legend>
        {INTERFACES.map((each) => (
          <label key={each}>
            <input
              type="checkbox"
              name="interfaces"
              value={each}
              checked={chosen.includes(each)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, each] : chosen.filter((other) => other !== each))
              }
            />{' '}
            {each}
          </label>
        ))}
        <FieldErrorOf name="interfaces" />
      </fieldset>
      <Select
        name="haulerId"
        label="Hauler"
        choices={[ALL_HAULERS, ...choices]}
        value={query.get('haulerId') ?? undefined}
      />
      {chosen.includes('vision') && (
        <>
          <Input name="customerId" label="Customer" hint="the only one whose videos the key reads" />
          <label class="field">
            <input type="checkbox" name="allCustomers" value="true" /> The key reads the videos of all customers
          </label>
        </>
      )}
      <Select
        name="connectionId"
        label="For a partner who hosts: this connection only"
        value={query.get('connectionId') ?? undefined}
        choices={[NO_CONNECTION, ...connections]}
      />
      <Input name="expiresAt" label="Expires" type="datetime-local" hint="empty: never" />
    </Form>
  );
}
