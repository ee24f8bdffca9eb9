import { SCOPES } from '../../contract/scopes.ts'
import type { StoreView } from '../../gateway/operations/stores.ts'
import type { Json } from '../api/json.ts'
import { ActButton, listOf } from '../ui/act.tsx'
import { ageMs } from '../ui/format.ts'
import { Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

type Key = Json<StoreView>['keys'][number]

const hasExpired = ({ expiresAt }: Key): boolean => expiresAt !== null && ageMs(expiresAt) >= 0

const isValid = (key: Key): boolean => key.revokedAt === null && !hasExpired(key)

function State({ of: key }: { of: Key }) {
  const { revokedAt, endsSoon, unused } = key
  if (revokedAt !== null)
    return (
      <>
        <Pill tone="bad">revoked</Pill> <Time at={revokedAt} />
      </>
    )
  if (hasExpired(key)) return <Pill tone="bad">expired</Pill>
  return (
    <>
      <Pill tone="good">valid</Pill> {endsSoon && <Pill tone="warn">ends soon</Pill>}{' '}
      {unused && <Pill tone="warn">unused for 30 days</Pill>}
    </>
  )
}

const KEY_SECRET = { apiKey: 'API key' }

type Props = Pick<Json<StoreView>, 'storeId' | 'keys'> & { refresh: () => void }

/** The keys of a store, with those that have ended. */
export function Keys({ storeId, keys, refresh }: Props) {
  return (
    <Panel title="API keys">
      {!keys.some(isValid) && <p className="empty">No key is valid: the store cannot call the API.</p>}
      <Table
        caption="API keys"
        rows={keys}
        keyOf={({ keyId }) => keyId}
        empty="No key was ever made."
        columns={[
          { name: 'Key', show: ({ keyId }) => <code>{keyId}</code> },
          { name: 'For', show: ({ name }) => name },
          { name: 'State', show: (key) => <State of={key} /> },
          { name: 'May', show: ({ scopes }) => scopes.join(', ') },
          { name: 'Last used', show: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
          { name: 'Ends', show: ({ expiresAt }) => <Time at={expiresAt} /> },
          {
            name: 'Acts',
            show: (key) => isValid(key) && <KeyActs keyId={key.keyId} refresh={refresh} />,
          },
        ]}
      />
      <div className="acts">
        <ActButton
          act="key add"
          label="Add a key"
          does="Makes another key for the store, with these rights only."
          needs="operator"
          fields={[
            { name: 'name', label: 'What it is for' },
            {
              name: 'scopes',
              label: 'Rights, separated by commas',
              value: 'deposits:read',
              hint: SCOPES.join(', '),
            },
            { name: 'expires', label: 'How long it works', isOptional: true, hint: 'Such as 90d, or empty.' },
          ]}
          input={({ name, scopes = '', expires = '' }) => ({
            storeId,
            name,
            scopes: listOf(scopes),
            ...(expires.trim() !== '' && { expires: expires.trim() }),
          })}
          onDone={refresh}
          secrets={KEY_SECRET}
        />
      </div>
    </Panel>
  )
}

function KeyActs({ keyId, refresh }: Pick<Key, 'keyId'> & Pick<Props, 'refresh'>) {
  return (
    <div className="acts">
      <ActButton
        act="key rotate"
        label="Rotate"
        does="Makes a new key with the same rights. The old key works for another day, unless it ends sooner."
        needs="operator"
        input={() => ({ keyId, overlapHours: 24 })}
        onDone={refresh}
        secrets={KEY_SECRET}
      />
      <ActButton
        act="key revoke"
        label="Revoke"
        does="Ends the key immediately. Calls with it are refused."
        needs="operator"
        needsReason
        input={() => ({ keyId })}
        onDone={refresh}
      />
    </div>
  )
}
