import { useState } from 'preact/hooks';
import type {
  IssuedWebhookEndpoint,
  WebhookEndpoint,
  WebhookFormat,
} from '../../../contracts/admin/webhooks.routes.js';
import { isStateTopic, TOPIC_NAMES, type TopicName } from '../../../contracts/webhooks/topic-names.values.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useHaulers } from '../../client/haulers.js';
import { bodyOf, Field, FieldErrorOf, Form, Input, Options, Select } from '../../parts/forms.js';
import { Secret } from '../../parts/values.js';
import { wholeTime } from '../../parts/zone.rules.js';
import { Card } from '../../parts/states.js';

/** To people goes only what is sent once for each change. */
const topicsFor = (format: WebhookFormat): readonly TopicName[] =>
  TOPIC_NAMES.filter((name) => format === 'standard' || isStateTopic(name));

const FORMATS: readonly (readonly [WebhookFormat, string])[] = [
  ['standard', 'Signed webhook (Standard Webhooks 1.0)'],
  ['slack', 'Channel of Slack: changes of states'],
  ['email', 'E-mail: changes of states'],
];
const ADDRESSES: Readonly<Record<WebhookFormat, string>> = {
  standard: 'such as https://hooks.example.com/haulbridge',
  slack: 'of an incoming webhook, such as https://hooks.slack.com/services/…; only its host is shown later',
  email: 'such as mailto:dana@example.com',
};
const ALL_HAULERS = ['', 'All haulers'] as const;

interface EndpointFormProps {
  /** Absent for a new one. */
  readonly endpoint?: WebhookEndpoint;
  readonly onSaved: (issued?: IssuedWebhookEndpoint) => void;
  readonly onCancel: () => void;
}

/** A new endpoint, or other values for one. */
export function EndpointForm({ endpoint, onSaved, onCancel }: EndpointFormProps) {
  const { choices } = useHaulers();
  const [format, setFormat] = useState<WebhookFormat>(endpoint?.format ?? 'standard');
  const save = async (values: FormData) => {
    const topics = TOPIC_NAMES.filter((name) => values.getAll('topics').includes(name));
    const body = bodyOf<BodyOf<'POST', '/webhook-endpoints'>>(values);
    if (endpoint === undefined) return onSaved(await send('POST', '/webhook-endpoints', { ...body, topics }));
    await send('PATCH', `/webhook-endpoints/${endpoint.id}`, { ...body, topics });
    return onSaved();
  };
  return (
    <Form
      title={endpoint === undefined ? 'New endpoint' : 'Change the endpoint'}
      submit={endpoint === undefined ? 'Create the endpoint' : 'Save the endpoint'}
      work={save}
      onCancel={onCancel}
    >
      <Field label="Format">
        <select
          name="format"
          value={format}
          onChange={(event) => setFormat(event.currentTarget.value as WebhookFormat)}
        >
          <Options choices={FORMATS} />
        </select>
      </Field>
      <FieldErrorOf name="format" />
      <Input name="url" label="Address" isRequired value={endpoint?.url} hint={ADDRESSES[format]} />
      <fieldset class="choice">
        <legend>Topics</legend>
        {topicsFor(format).map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              name="topics"
              value={name}
              defaultChecked={endpoint?.topics.includes(name) ?? false}
            />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <FieldErrorOf name="topics" />
      {endpoint === undefined && <Select name="haulerId" label="Hauler" choices={[ALL_HAULERS, ...choices]} />}
    </Form>
  );
}

interface NewSecretProps {
  readonly issued: IssuedWebhookEndpoint;
  readonly onClose: () => void;
}

export const NewSecret = ({ issued: { secret, formerSecretUntil }, onClose }: NewSecretProps) => (
  <Card
    title={formerSecretUntil === null ? 'The endpoint is created' : 'The secret is rotated'}
    label="New secret"
    kind="highlight"
  >
    <p>
      The receiver checks the signatures with it:{' '}
      <a href="/docs/guides/webhooks" target="_blank">
        receivers in Express and Python
      </a>
      . {formerSecretUntil !== null && `The former secret signs as well until ${wholeTime(formerSecretUntil)}.`}
    </p>
    <Secret of="secret" value={secret} onClose={onClose} />
  </Card>
);
