import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DELIVERY_REASONS } from '../../../src/contracts/webhooks/delivery-reasons.js';
import { filled, SENT_TOPICS, topicOf } from '../../../src/contracts/webhooks/topics.js';
import { DELAYS_MS } from '../../../src/webhooks/delivery.rules.js';
import { standardBody } from '../../../src/webhooks/messages.rules.js';

const PAGE = join(import.meta.dirname, '../../../docs/webhooks.md');

const at = new Date('2026-11-20T14:03:27.512Z');

function period(milliseconds: number): string {
  const units = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  const [size, name] = units.find(([each]) => milliseconds % each === 0) ?? [1, 'ms'];
  return `${milliseconds / size} ${name}`;
}

function section(name: (typeof SENT_TOPICS)[number]): string {
  const topic = topicOf(name);
  const body = standardBody({ topic: name, data: JSON.stringify(topic.data), created_at: at });
  const example = JSON.stringify(JSON.parse(body), undefined, 2);
  const once = topic.isState === true ? ' Sent once for each change.' : '';
  return `## \`${name}\`

${topic.description}${once} Read the truth by \`${filled(topic.readBy, topic.data)}\`.

\`\`\`json
${example}
\`\`\`
`;
}

const page = () => `# Topics of webhooks

<!-- Generated from src/contracts/webhooks: \`npm run webhooks\` writes it. -->

How to receive them is in the [guide](guides/webhooks.md). Each topic has an example of the whole body.

${SENT_TOPICS.map(section).join('\n')}
## Tries

| try | after the one before |
| --- | --- |
| 1 | at once |
${DELAYS_MS.map((delay, i) => `| ${i + 2} | ${period(delay)} |`).join('\n')}

A tenth at most is added at random, and a \`Retry-After\` of at most 24 h is obeyed.

## Reasons

| \`reason\` of a delivery | meaning |
| --- | --- |
${Object.entries(DELIVERY_REASONS)
  .map(([code, sentence]) => `| \`${code}\` | ${sentence} |`)
  .join('\n')}
`;

test('docs/webhooks.md has the topics of the contracts: UPDATE_WEBHOOKS=1 writes it', () => {
  if (process.env['UPDATE_WEBHOOKS'] === '1') writeFileSync(PAGE, page());
  expect(readFileSync(PAGE, 'utf8')).toBe(page());
});

test('the tries take 75 hours in all', () => {
  const hours = DELAYS_MS.reduce((sum, delay) => sum + delay, 0) / 3_600_000;
  expect(Math.floor(hours)).toBe(75);
});
