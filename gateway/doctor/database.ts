/** Checks, from the database's answers, whether a till can work on it. Reads no files but those of the migrations. */
import type { Config } from '../config.ts'
import { ownershipOf } from '../db/identity.ts'
import { judgeSchema, migrationFiles } from '../db/schema-version.ts'
import { counted } from '../kit/counted.ts'
import type { DatabaseAnswer, DatabaseProbe } from './database-store.ts'
import { type Finding, good, mend, notChecked, timeServerAdvice } from './finding.ts'

const OLDEST_POSTGRES = 15
/** The connections that one gateway needs. "Connections" in docs/scaling.md lists them. */
export const NEEDED_CONNECTIONS = 21
/**
 * A greater difference of the clocks is a fault. Leases use the database's clock, signatures of webhooks the machine's.
 */
const MOST_APART_MS = 2_000

type Settings = Pick<Config, 'mode' | 'masterKey' | 'oldMasterKeys'>

/** `areApart`: the addresses of the two roles lead to different databases. */
export function databaseFindings(
  answer: DatabaseAnswer,
  owner?: DatabaseAnswer,
  areApart = false,
): Finding[] {
  if (answer.kind === 'failed') return [unreachable('database', 'DATABASE_URL', answer.reason)]
  const rights =
    owner === undefined ? [withoutOwnerFinding(answer)] : findingsOfTwoRoles(answer, owner, areApart)
  return [
    versionFinding(answer),
    recoveryFinding(answer),
    diskFinding(answer),
    poolerFinding(answer),
    connectionsFinding(answer),
    clockFinding(answer),
    ...rights,
  ]
}

const unreachable = (check: string, name: string, reason: string): Finding =>
  mend(
    check,
    `cannot be reached: ${reason}`,
    `check ${name}, and that the server listens and accepts this machine`,
  )

function versionFinding({ version, sizeBytes }: DatabaseProbe): Finding {
  const major = Math.floor(version / 10_000)
  const size = `${Math.ceil(sizeBytes / 1_000_000)} MB`
  if (major >= OLDEST_POSTGRES) return good('database.version', `PostgreSQL ${major}, ${size}`)
  return mend(
    'database.version',
    `is PostgreSQL ${major}`,
    `upgrade it to PostgreSQL ${OLDEST_POSTGRES} or newer`,
  )
}

function recoveryFinding({ inRecovery, readOnly }: DatabaseProbe): Finding {
  if (inRecovery) {
    const advice = 'set DATABASE_URL to the primary, or promote this server if it is the one to use'
    return mend('database.recovery', 'is a replica, or still recovering', advice)
  }
  if (!readOnly) return good('database.recovery', 'takes writes')
  const advice =
    'find out who set default_transaction_read_only: perhaps the provider, because of a full disk'
  return mend('database.recovery', 'takes no writes', advice)
}

function diskFinding({ fullDisk }: DatabaseProbe): Finding {
  if (fullDisk === undefined) return good('database.disk', 'does not report that it is full')
  return mend(
    'database.disk',
    `is full: ${fullDisk}`,
    'free space on the disk of the database, or enlarge it',
  )
}

function poolerFinding({ backend }: DatabaseProbe): Finding {
  if (backend.real === backend.named) return good('database.pooler', 'the connection is direct')
  const advice =
    'connect directly: a pooler in transaction mode loses notifications and locks. One in session mode works'
  return mend('database.pooler', 'a pooler answers', advice)
}

function connectionsFinding({ connections: { used, most } }: DatabaseProbe): Finding {
  const free = most - used
  if (free >= NEEDED_CONNECTIONS)
    return good('database.connections', `${free} of ${most} connections are free`)
  const advice = `raise max_connections: a gateway needs ${NEEDED_CONNECTIONS} to start. If it is running, it has them already, and you can ignore this`
  return mend('database.connections', `${free} of ${most} connections are free`, advice)
}

function clockFinding({ databaseMs, machineMs, doubtMs }: DatabaseProbe): Finding {
  const apartMs = Math.round(Math.abs(databaseMs - machineMs))
  if (apartMs <= MOST_APART_MS + doubtMs) return good('clock', `${apartMs} ms from the clock of the database`)
  return mend('clock', `${apartMs} ms from the clock of the database`, timeServerAdvice('both machines'))
}

/** A gateway of a till with two roles needs the URL of the owner role only for migrations. */
function withoutOwnerFinding(answer: DatabaseProbe): Finding {
  if (answer.mayCreate || !hasEveryMigration(answer)) return createRightFinding(answer)
  const says = `the role ${answer.role} may read the tables; a gateway needs the owner role only to upgrade`
  return good('database.rights', says)
}

function hasEveryMigration({ applied }: DatabaseProbe): boolean {
  const judgement = judgeSchema(migrationFiles(), applied)
  return judgement.kind !== 'refused' && judgement.missing.length === 0
}

function createRightFinding({ role, mayCreate }: DatabaseProbe): Finding {
  if (mayCreate) return good('database.rights', `the role ${role} may create tables`)
  const advice = `set TRADETILL_OWNER_DATABASE_URL to a URL with the role that owns the tables. If ${role} is that role, run this in the database as a superuser: grant create on database … to ${role}; grant create on schema public to ${role}`
  return mend('database.rights', `the role ${role} may not create tables`, advice)
}

function readRightFinding({ role, mayRead }: DatabaseProbe): Finding {
  if (mayRead) return good('database.rights', `the role ${role} may read the tables`)
  const advice = 'start a gateway with TRADETILL_OWNER_DATABASE_URL: it grants the role its rights'
  return mend('database.rights', `the role ${role} may not read the tables`, advice)
}

function findingsOfTwoRoles(app: DatabaseProbe, owner: DatabaseAnswer, areApart: boolean): Finding[] {
  if (owner.kind === 'failed')
    return [unreachable('database.owner', 'TRADETILL_OWNER_DATABASE_URL', owner.reason)]
  if (app.isSuperuser || app.role === owner.role) {
    const fault = app.isSuperuser ? 'is a superuser' : 'is the owner too'
    const advice = 'in DATABASE_URL, use a role that owns nothing: "Two roles" in docs/operating.md'
    return [mend('database.rights', `the role ${app.role} of DATABASE_URL ${fault}`, advice)]
  }
  const ownerFinding = areApart
    ? mend(
        'database.owner',
        'leads to another database than DATABASE_URL',
        'set both to one database: backups are made as the owner',
      )
    : { ...createRightFinding(owner), check: 'database.owner' }
  return [readRightFinding(app), ownerFinding]
}

/** Checks that this mode and master key belong to the database, and that this code knows its schema. */
export function identityFindings(answer: DatabaseAnswer, settings: Settings): Finding[] {
  const checks = ['database.identity', 'database.schema']
  if (answer.kind === 'failed')
    return checks.map((check) => notChecked(check, 'the database was not reached'))
  if (!answer.mayRead) return checks.map((check) => notChecked(check, 'the role may not read the tables'))
  const { identity, applied } = answer
  const [identityCheck = '', schema = ''] = checks
  const files = migrationFiles()
  const judgement = judgeSchema(files, applied)
  const schemaFinding =
    judgement.kind === 'refused'
      ? mend(schema, judgement.reason, 'see "Upgrades" in docs/operating.md')
      : judgement.missing.length === 0
        ? good(schema, `has all ${files.length} migrations`)
        : mend(
            schema,
            counted(judgement.missing.length, 'migration is missing', 'migrations are missing'),
            'start tradetill serve, which applies them',
          )
  if (identity === undefined) {
    return [notChecked(identityCheck, 'no gateway has started on this database yet'), schemaFinding]
  }
  const ownership = ownershipOf(identity, settings)
  return [
    ownership.kind === 'own'
      ? good(identityCheck, `has this mode and master key (${identity.keyFingerprint.slice(0, 8)}…)`)
      : mend(identityCheck, ownership.reason, 'run this command with the settings of the gateway'),
    schemaFinding,
  ]
}
