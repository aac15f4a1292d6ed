/** The pages of the admin console below `/console`, with their titles, in the order of its navigation. */
export const CONSOLE_PAGES = {
  '': 'Home',
  coverage: 'Coverage',
  recordings: 'Recordings',
  clips: 'Clip requests',
  tickets: 'Tickets',
  accounts: 'Accounts',
  reports: 'Reports',
  exchanges: 'Exchanges',
  haulers: 'Haulers',
  connections: 'Connections',
  sync: 'Synchronisation',
  keys: 'API keys',
  webhooks: 'Webhooks',
  holds: 'Holds',
  retention: 'Retention',
  sandbox: 'Sandbox',
  sessions: 'Sessions',
  actions: 'Actions',
} as const;

export type ConsolePage = keyof typeof CONSOLE_PAGES;
