import { Command } from 'commander';
import { CatalogQuery } from '../contracts/admin/catalog.dto.js';
import { CatalogLists } from '../site-sync/catalog/catalog-lists.service.js';
import type { CommandGroup } from './command-line.js';
import { readInput } from './input.js';

type Kind = 'sites' | 'kiosks' | 'materials';

const catalogGroup =
  (name: string, kind: Kind, ofSite: string): CommandGroup =>
  (action) => {
    const group = new Command(name).description(`${kind} of haulers, as partners have told of them`);
    group
      .command('list')
      .description(`list ${kind}, newest first`)
      .option('--hauler-id <uuid>', `${kind} of this hauler only`)
      .option('--active <boolean>', `true for active ${kind} only, false for inactive ones`)
      .option('--site-id <uuid>', `${ofSite} only, by the partner's id of it`)
      .option('--page <number>', 'page, from 1')
      .option('--page-size <number>', `${kind} a page, 1 to 100`)
      .action(
        action((services, options: object): Promise<object> =>
          services.get(CatalogLists)[kind](readInput(CatalogQuery, options)),
        ),
      );
    return group;
  };

export const siteCommands = catalogGroup('site', 'sites', 'this site');
export const kioskCommands = catalogGroup('kiosk', 'kiosks', 'kiosks of this site');
export const materialCommands = catalogGroup('material', 'materials', 'materials of this site and of its kiosks');
