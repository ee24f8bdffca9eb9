import { countProcessesWithOtherKeys } from '../bots/process-store.ts'
import type { Db } from '../db/client.ts'
import { shortened } from '../db/identity.ts'
import { counted } from '../kit/counted.ts'
import { createSecretBox, fingerprintOf, markOf, type SecretBox } from '../kit/secret-box.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import {
  countValues,
  eraseSealed,
  findIdentity,
  forgetOldKeys,
  replaceValue,
  SEALED,
  type SealedColumn,
  valuesWithout,
} from './sealed-store.ts'

/** How many values to read at a time. */
const BATCH = 100
/** A gateway with another key would go on sealing values with it, and they would be lost together with that key. */
const OTHER_KEY_IN_USE = refused(
  'conflict',
  'A gateway may still seal with another master key. Restart all gateways with the key of these settings first.',
)

/**
 * `known`: shortened fingerprints of keys that the database may need. `values`: all sealed values. `left`: those not
 * yet sealed with the key of these settings.
 */
export type KeyRing = { fingerprint: string; known: string[]; values: number; left: number }

export async function showKeyRing({ db, config }: FindDeps): Promise<Answer<KeyRing>> {
  const { masterKey } = config
  const [{ values, marked }, identity] = await Promise.all([
    countValues(db, markOf(masterKey)),
    findIdentity(db),
  ])
  return done({
    fingerprint: shortened(fingerprintOf(masterKey)),
    known: [identity.keyFingerprint, ...identity.oldFingerprints].map(shortened),
    values,
    left: values - marked,
  })
}

/** `unreadable`: the number of values that the configured keys cannot decrypt. */
export type RotationResult = { resealed: number; left: number; unreadable: number }

/**
 * Seals every value with the key of these settings, in small batches. It can be interrupted and run again. Once all
 * values are sealed with that key, the database forgets the old keys.
 */
export async function rotateKeyRing(deps: ActDeps): Promise<Answer<RotationResult>> {
  const { db, config } = deps
  const { masterKey, oldMasterKeys } = config
  const keyFingerprint = fingerprintOf(masterKey)
  const gateways = await countProcessesWithOtherKeys(db, keyFingerprint)
  if (gateways > 0 || (await findIdentity(db)).keyFingerprint !== keyFingerprint) return OTHER_KEY_IN_USE
  const box = createSecretBox(masterKey, oldMasterKeys)
  const { resealed, unreadable } = await resealAll(db, box, markOf(masterKey))
  return act(
    deps,
    { name: 'key-ring rotate', argumentsOf: (data: RotationResult) => ({ ...data }) },
    async (tx) => {
      const { values, marked } = await countValues(tx, markOf(masterKey))
      const data = { resealed, left: values - marked, unreadable }
      const hasForgotten = data.left === 0 && (await forgetOldKeys(tx, keyFingerprint))
      const message = messageOf(data)
      return resealed === 0 && !hasForgotten ? unchanged(data, message) : done(data, message)
    },
  )
}

/** How many bots must be enrolled again, and how many endpoints need a new secret. */
export type LostSecrets = { bots: number; endpoints: number }

/**
 * Erases everything that a lost master key sealed, and makes the key of these settings the database's key. This is
 * final. Money, items and API keys are not sealed.
 */
export async function forgetLostKey(deps: ActDeps): Promise<Answer<LostSecrets>> {
  const { db, config } = deps
  const keyFingerprint = fingerprintOf(config.masterKey)
  const namedAct = {
    name: 'key-ring forget',
    needsReason: true,
    argumentsOf: (data: LostSecrets) => ({ ...data }),
  }
  if ((await countProcessesWithOtherKeys(db, keyFingerprint)) > 0) return STILL_RUNNING
  return act(deps, namedAct, async (tx) => {
    const { keyFingerprint: currentFingerprint, oldFingerprints } = await findIdentity(tx)
    if ([currentFingerprint, ...oldFingerprints].includes(keyFingerprint)) {
      return refused('conflict', 'The database knows the master key of these settings: see key-ring rotate.')
    }
    const data = await eraseSealed(tx, keyFingerprint)
    return done(
      data,
      `The database now belongs to the new master key. Enrol ${counted(data.bots, 'bot')} again, and give ${counted(data.endpoints, 'endpoint')} a new secret (webhook rotate).`,
    )
  })
}

const STILL_RUNNING = refused('conflict', 'A gateway runs with another master key. Stop all gateways first.')

function messageOf({ resealed, left, unreadable }: RotationResult): string {
  if (left === 0) return `${resealed} sealed again, none left: the old keys can be removed from the settings.`
  const why = unreadable === 0 ? 'Run it again.' : `No key of these settings opens ${unreadable} of them.`
  return `${resealed} sealed again, ${left} left. ${why}`
}

/**
 * Seals again every value that does not begin with `mark`, the mark of the current key. Replaces a value only if it is
 * unchanged since it was read, so a running till is not disturbed.
 */
export async function resealAll(
  db: Db,
  box: SecretBox,
  mark: Buffer,
): Promise<{ resealed: number; unreadable: number }> {
  let [resealed, unreadable] = [0, 0]
  for (const source of SEALED) {
    const counts = await resealSource(db, source, { box, mark })
    resealed += counts.resealed
    unreadable += counts.unreadable
  }
  return { resealed, unreadable }
}

async function resealSource(
  db: Db,
  source: SealedColumn,
  { box, mark }: { box: SecretBox; mark: Buffer },
): Promise<{ resealed: number; unreadable: number }> {
  let [resealed, unreadable] = [0, 0]
  let after: string[] | undefined
  do {
    const batch = await valuesWithout(db, source, { mark, after, limit: BATCH })
    for (const { at, place, sealed } of batch) {
      const fresh = reseal(box, sealed, place)
      if (fresh === undefined) unreadable += 1
      else if (await replaceValue(db, source, { at, sealed, fresh })) resealed += 1
    }
    after = batch.at(-1)?.at
  } while (after !== undefined)
  return { resealed, unreadable }
}

/** Returns undefined if no key opens the value. */
function reseal(box: SecretBox, sealed: Buffer, place: string): Buffer | undefined {
  let plain: string
  try {
    plain = box.open(sealed, place)
  } catch {
    return undefined
  }
  return box.seal(plain, place)
}
