import { DELIVERY_REASONS } from '../../src/contracts/webhooks/delivery.values.js';
import { filled, SENT_TOPICS, topicOf } from '../../src/contracts/webhooks/topics.values.js';
import { DELAYS_MS, standardBody } from '../../src/webhooks/delivery.rules.js';
import type { Generator } from './generator.js';

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

<!-- Generated from src/contracts/webhooks: \`npm run generate -- webhooks\` writes it. -->

How to receive them is in the [guide](guides/webhooks.md). Each topic has an example of the whole body.
What is sent once for each change goes to e-mail and Slack too, the other topics to signed webhooks alone.

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

/** The page of the topics, with an example of each. */
export const webhooks: Generator = () => ({ 'docs/webhooks.md': page() });
