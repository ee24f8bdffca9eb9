/** Causes that stop a till that is set up: an epoch that was not begun, bots that are disarmed, alarms, the vault. Pure checks. */
import { BREAKS, type Break } from '../epochs/epoch.ts'
import { type Finding, good, mend, notChecked } from './finding.ts'

export type EpochState = { epoch: bigint | undefined; found: Break | undefined; isDisarmed: boolean }

export function epochFindings({ epoch, found, isDisarmed }: EpochState): Finding[] {
  const ofEpoch =
    found !== undefined
      ? mend(
          'epoch',
          `nothing is published or offered: ${BREAKS[found]}`,
          '"Backup and restore" in docs/operating.md, then tradetill restore finish',
        )
      : epoch === undefined
        ? notChecked('epoch', 'no gateway has started on this database yet')
        : good('epoch', `epoch ${epoch}, in the life that its gateways know`)
  const ofBots = isDisarmed
    ? mend('bots.armed', 'the bots are disarmed: nobody speaks for them', 'tradetill bot arm')
    : good('bots.armed', 'the bots are armed')
  return [ofEpoch, ofBots]
}

export type AlarmState = {
  /** Departures that nobody explained. */
  departures: number
  /** Items that the books have and Steam surely does not. */
  missing: number
}

export function alarmFindings({ departures, missing }: AlarmState): Finding[] {
  const alarm = (check: string, count: number, [what, advice]: readonly [string, string]): Finding =>
    count === 0 ? good(check, `0 ${what}`) : mend(check, `${count} ${what}`, advice)
  return [
    alarm('alarms.departures', departures, [
      'departures that nobody explained',
      'tradetill items departures --unexplained',
    ]),
    alarm('alarms.drift', missing, [
      'items that the books have and Steam has not',
      'tradetill items drift --json',
    ]),
  ]
}

export type VaultState = {
  role: 'absent' | 'granted' | 'not_granted'
  /** Connections of its role right now. */
  connected: number
  /** Open wishes of more than a quarter of an hour that the vault has said nothing of. */
  unseen: number
}

export function vaultFindings({ role, connected, unseen }: VaultState): Finding[] {
  if (role === 'absent') return [notChecked('vault', 'there is no role tradetill_vault: items leave by hand')]
  const ofRole =
    role === 'granted'
      ? good('vault.rights', 'the role tradetill_vault may read wishes')
      : mend(
          'vault.rights',
          'the role tradetill_vault may not read wishes',
          'restart a gateway with TRADETILL_OWNER_DATABASE_URL: it grants what the role needs',
        )
  const advice = 'start the vault, and see its log: systemctl status tradetill-vault'
  const ofProcess =
    connected === 0
      ? mend('vault', 'no vault is connected', advice)
      : unseen > 0
        ? mend('vault', `the vault has said nothing of ${unseen} wishes`, advice)
        : good('vault', 'a vault is connected, and has seen every wish')
  const key = notChecked('vault.key', 'only the vault may read it, and starts with no file that others can')
  return [ofProcess, ofRole, key]
}
