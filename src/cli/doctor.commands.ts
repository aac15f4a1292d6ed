import { Command } from 'commander';
import { AnswerWithSentence, FailedWithAnswer, type CommandGroup } from './command-line.js';
import { Doctor } from './doctor.js';

export const doctorCommands: CommandGroup = (action) =>
  new Command('doctor')
    .description(
      'compare the video storage with the database, and name what only one of them has; changes nothing, exit code 1 where something is found',
    )
    .option('--checksums', 'read every file too, and compare its SHA-256')
    .action(
      action(async (services, options: { checksums?: boolean }) => {
        const { examined, data } = await services.get(Doctor).examine(options);
        if (data.length === 0) {
          return new AnswerWithSentence(
            { examined, data },
            `storage and database agree: examined ${examined} rows and files`,
          );
        }
        const disagreements = data.length === 1 ? '1 disagreement' : `${data.length} disagreements`;
        return new FailedWithAnswer({ examined, data }, `${disagreements} between storage and database`);
      }),
    );
