import fc from 'fast-check';

/** Each run of the gate tries the same values; another seed tries others. */
fc.configureGlobal({ seed: Number(process.env['FAST_CHECK_SEED'] ?? 45) });

export default fc;
