import { alertText } from '../alerts/alert.ts'
import type { Needs } from '../alerts/needs-store.ts'
import { BREAKS, type Break } from '../epochs/epoch.ts'
import { counted } from '../kit/counted.ts'
import type { Outage } from '../outages/outage.ts'
import { ageText, type Finding, good, mend, notChecked } from './finding.ts'

export type EpochState = {
  /** Undefined before the first start of a gateway. */
  epoch: bigint | undefined
  /** How the database's history was broken, such as by a restore; undefined if it was not. */
  breakKind: Break | undefined
  isDisarmed: boolean
}

export function epochFindings({ epoch, breakKind, isDisarmed }: EpochState): Finding[] {
  const epochFinding =
    breakKind !== undefined
      ? mend(
          'epoch',
          `nothing is published or offered: ${BREAKS[breakKind]}`,
          '"Backup and restore" in docs/operating.md, then tradetill restore finish',
        )
      : epoch === undefined
        ? notChecked('epoch', 'no gateway has started on this database yet')
        : good('epoch', `epoch ${epoch}, with no restore since`)
  const armedFinding = isDisarmed
    ? mend('bots.armed', 'the bots are disarmed: no gateway uses them', 'tradetill bot arm')
    : good('bots.armed', 'the bots are armed')
  return [epochFinding, armedFinding]
}

/** `others`: gateways that seal with another master key. While there are any, `key-ring rotate` refuses too. */
export function keyFindings(others: number): Finding[] {
  if (others === 0) return [good('gateways.key', 'every running gateway seals with this master key')]
  const says = `${counted(others, 'running gateway seals', 'running gateways seal')} with another master key`
  const advice =
    'give every gateway the master key of these settings, in the order of "Another master key" in docs/operating.md'
  return [mend('gateways.key', says, advice)]
}

/** `until`: the planned end of maintenance; null without one. */
export type Pause = { kind: Outage; since: Date; until: Date | null }

/** Reports what stops new trades even if every bot is well. */
export function pauseFindings(pauses: readonly Pause[], now: Date): Finding[] {
  const durationTextOf = ({ since }: Pause) => ageText(now.getTime() - since.getTime())
  const maintenance = pauses.find(({ kind }) => kind === 'maintenance')
  const maintenanceFinding =
    maintenance === undefined
      ? good('maintenance', 'is off')
      : maintenance.until !== null
        ? good('maintenance', `is on, and ends automatically at ${maintenance.until.toISOString()}`)
        : mend(
            'maintenance',
            `has been on for ${durationTextOf(maintenance)}, without a planned end: no new trade begins`,
            'tradetill maintenance off, or maintenance on --for 45m for a planned end',
          )
  const outages = pauses.flatMap((pause) => {
    if (pause.kind !== 'offers' && pause.kind !== 'inventories') return []
    const says = `${pause.kind} have failed at every bot for ${durationTextOf(pause)}: no new trade begins`
    const advice = 'wait until Steam answers again, or announce the outage with tradetill maintenance on'
    return [mend(`steam.${pause.kind}`, says, advice)]
  })
  return [maintenanceFinding, ...(outages.length > 0 ? outages : [good('steam', 'no outage is known')])]
}

type AlarmNeeds = Pick<Needs, 'departuresUnexplained' | 'itemsMissing' | 'vaultNeeds'>

export function alarmFindings({ departuresUnexplained, itemsMissing, vaultNeeds }: AlarmNeeds): Finding[] {
  const alarm = (
    check: string,
    count: number,
    { says, advice }: { says: string; advice: string },
  ): Finding => (count === 0 ? good(check, says) : mend(check, says, advice))
  return [
    alarm('alarms.departures', departuresUnexplained, {
      says: counted(departuresUnexplained, 'unexplained departure'),
      advice: 'tradetill items departures --unexplained',
    }),
    alarm('alarms.drift', itemsMissing, {
      says: counted(
        itemsMissing,
        'item in the books that is missing on Steam',
        'items in the books that are missing on Steam',
      ),
      advice: 'tradetill items drift --json',
    }),
    alarm('alarms.vault', vaultNeeds, {
      says: `${vaultNeeds} ${alertText('vaultNeeds', vaultNeeds)}`,
      advice: 'tradetill market list',
    }),
  ]
}

export type VaultState = {
  /** Whether the vault's role exists, and may read and take up wishes. */
  role: 'absent' | 'granted' | 'not_granted'
  /** Current connections of the vault's role. */
  connected: number
  /** Open wishes older than a quarter of an hour that the vault has not answered. */
  unanswered: number
}

const NAMES_DATABASE =
  'If it runs, its TRADETILL_VAULT_DATABASE_URL names another database, as after a restore'

export function vaultFindings({ role, connected, unanswered }: VaultState): Finding[] {
  if (role === 'absent') return [notChecked('vault', 'there is no role tradetill_vault: items leave by hand')]
  const roleFinding =
    role === 'granted'
      ? good('vault.rights', 'the role tradetill_vault may read and take up wishes')
      : mend(
          'vault.rights',
          'the role tradetill_vault may not read or take up wishes',
          'restart a gateway with TRADETILL_OWNER_DATABASE_URL: it grants the role its rights',
        )
  const logAdvice = 'see its log: systemctl status tradetill-vault'
  const processFinding =
    connected === 0
      ? mend(
          'vault',
          'no vault is connected to this database',
          `start the vault, and ${logAdvice}. ${NAMES_DATABASE}`,
        )
      : unanswered > 0
        ? mend('vault', `the vault has not answered ${counted(unanswered, 'wish', 'wishes')}`, logAdvice)
        : good('vault', 'a vault is connected, and no wish has waited 15 minutes for its answer')
  const key = notChecked(
    'vault.key',
    'only the vault may read its key file, and it refuses one that others can read',
  )
  return [processFinding, roleFinding, key]
}
