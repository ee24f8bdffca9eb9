import { BREAKS, type Break, breakOf } from '../epochs/epoch.ts'
import { startEpoch } from '../epochs/service.ts'
import { isDisarmed, readHistory, setDisarmed, takeLeasesBack } from '../epochs/store.ts'
import { lockPublishing } from '../events/store.ts'
import { counted } from '../kit/counted.ts'
import { deliveryWriter } from '../webhooks/store.ts'
import { act } from './act.ts'
import { type ActDeps, type Answer, done, type FindDeps, refused, unchanged } from './operation.ts'
import { countAgain, type WrongCounts } from './recount-store.ts'

/** `found`: how the history of the database was broken, which stops the till; null if it was not. */
export type RestoreView = { epoch: number | null; found: Break | null; disarmed: boolean }

export async function showRestore({ db }: FindDeps): Promise<Answer<RestoreView>> {
  const history = await readHistory(db)
  const breakKind = breakOf(history, undefined) ?? null
  const epoch = history.epoch === undefined ? null : Number(history.epoch.number)
  const named = epoch === null ? 'No epoch yet' : `Epoch ${epoch}`
  const text = breakKind === null ? `${named}: there is no unfinished restore.` : stoppedText(breakKind)
  const disarmed = await isDisarmed(db)
  return done(
    { epoch, found: breakKind, disarmed },
    disarmed ? `${text} The bots are disarmed: bot arm.` : text,
  )
}

const stoppedText = (breakKind: Break): string =>
  `Nothing is published, opened or offered on this database: ${BREAKS[breakKind]}. See "Backup and restore" in docs/operating.md, then restore finish.`

/** `stores`: how many stores are informed by an event. `skipped`: how many event numbers the new epoch leaves out. */
export type FinishedRestore = { epoch: number; stores: number; skipped: number; recounted: WrongCounts }

/** Begins the next epoch; with `unnoticed`, even if no gateway has noticed the restore. */
export function finishRestore(deps: ActDeps, unnoticed: boolean): Promise<Answer<FinishedRestore>> {
  const argumentsOf = ({ epoch, stores }: FinishedRestore) => ({ epoch, stores, unnoticed })
  return act(deps, { name: 'restore finish', needsReason: true, argumentsOf }, async (tx) => {
    await lockPublishing(tx)
    const breakKind = breakOf(await readHistory(tx), undefined)
    if (breakKind === undefined && !unnoticed) {
      return refused(
        'conflict',
        'No gateway has noticed a restore of this database. If it was restored nevertheless, add --unnoticed.',
      )
    }
    const at = deps.clock.now()
    // No wake-up is needed: the delivery lanes poll for due deliveries.
    const addDeliveries = deliveryWriter({ clock: deps.clock, signals: { notify: async () => {} } })
    const { epoch, skipped, stores } = await startEpoch(tx, { at, addDeliveries })
    const recounted = await countAgain(tx)
    const data = { epoch: Number(epoch), stores, skipped: Number(skipped), recounted }
    const message = `Epoch ${epoch} began. Event numbers skip ${skipped}, and ${counted(stores, 'store is', 'stores are')} informed. Gateways resume within seconds.`
    return done(data, message)
  })
}

/** Corrects the counts of every bot's items and of every store's credit at risk. */
export function recount(deps: ActDeps): Promise<Answer<WrongCounts>> {
  return act(
    deps,
    { name: 'restore recount', argumentsOf: (data: WrongCounts) => ({ ...data }) },
    async (tx) => {
      const data = await countAgain(tx)
      const text = `${counted(data.bots, 'bot')} and ${counted(data.stores, 'store')} had wrong counts, now corrected.`
      return data.bots + data.stores === 0
        ? unchanged(data, 'The items of every bot and the credit at risk of every store were counted right.')
        : done(data, text)
    },
  )
}

export type ArmedView = { armed: boolean }

/** Arms or disarms all bots. No process leases a disarmed bot, so no offer is sent, cancelled or read. */
export function setBotsArmed(deps: ActDeps, armed: boolean): Promise<Answer<ArmedView>> {
  const namedAct = { name: `bot ${armed ? 'arm' : 'disarm'}`, argumentsOf: () => ({}) }
  return act(deps, namedAct, async (tx) => {
    const changed = await setDisarmed(tx, !armed, deps.clock.now())
    if (!changed) return unchanged({ armed }, `The bots were ${armed ? 'armed' : 'disarmed'} already.`)
    if (!armed) await takeLeasesBack(tx)
    return done({ armed }, armed ? ARMED_TEXT : DISARMED_TEXT)
  })
}

const ARMED_TEXT = 'The bots are armed: gateways take them within seconds.'
const DISARMED_TEXT = 'The bots are disarmed: no gateway on this database uses them until bot arm.'
