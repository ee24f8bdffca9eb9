import { useContext, useState } from 'react'
import type { OperatorList } from '../../gateway/operations/operators.ts'
import type { ProposalList } from '../../gateway/operations/proposals.ts'
import { call, type Failure, forgetSession } from '../api/call.ts'
import type { Json } from '../api/json.ts'
import { Me } from '../me.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { formatMinor } from '../ui/format.ts'
import { Facts, Failed, Heading, Loaded, Panel, Status, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

export function SettingsPage() {
  return (
    <>
      <Heading title="Settings" />
      <Session />
      <Proposals />
      <Operators />
    </>
  )
}

function Session() {
  const me = useContext(Me)
  const [failure, setFailure] = useState<Failure>()
  const signOut = async (): Promise<void> => {
    const reply = await call('sign-out-everywhere')
    // Shows the failure, because the operator would otherwise trust that a lost device is signed out.
    if (!reply.ok && reply.failure.kind !== 'signed_out') return setFailure(reply.failure)
    forgetSession()
    location.assign('/')
  }
  return (
    <Panel title="You">
      <Facts
        facts={[
          ['Name', me.name],
          ['Role', me.role],
          ['Session', 'ends 30 minutes after its last use, and at the latest 12 hours after it began'],
        ]}
      />
      {failure !== undefined && (
        <Failed failure={{ ...failure, message: `Devices may still be signed in. ${failure.message}` }} />
      )}
      <div className="acts">
        <button type="button" className="button small" onClick={() => void signOut()}>
          Sign out everywhere
        </button>
      </div>
    </Panel>
  )
}

function Proposals() {
  const { shown, refresh } = useAnswer<Json<ProposalList>>('proposals', {})
  return (
    <Panel title="Second operator">
      <Loaded shown={shown} refresh={refresh}>
        {({ proposals, aboveUsdMinor }) => (
          <>
            <p>
              {aboveUsdMinor === null
                ? 'No act needs a second operator.'
                : `If an operator’s acts move more than ${formatMinor(aboveUsdMinor, 'USD')} in 24 hours, a second operator must approve them.`}
            </p>
            <Table
              caption="Acts for a second operator, open ones first"
              rows={proposals}
              keyOf={({ proposalId }) => proposalId}
              empty="No act is listed."
              columns={[
                { name: 'Number', show: ({ proposalId }) => proposalId },
                { name: 'State', show: ({ state }) => <Status name={state} /> },
                { name: 'Act', show: ({ act }) => act },
                { name: 'Input', show: ({ input }) => <code className="long">{JSON.stringify(input)}</code> },
                {
                  name: 'Worth',
                  isNumber: true,
                  show: ({ worthUsdMinor }) => formatMinor(worthUsdMinor, 'USD'),
                },
                { name: 'By', show: (proposal) => byText(proposal) },
                { name: 'Why', show: ({ reason }) => reason ?? '—' },
                { name: 'When', show: ({ createdAt }) => <Time at={createdAt} /> },
                {
                  name: 'Decision',
                  show: ({ proposalId, state, act }) =>
                    state === 'open' && <Decide proposalId={proposalId} act={act} refresh={refresh} />,
                },
              ]}
            />
            <Limit refresh={refresh} />
          </>
        )}
      </Loaded>
    </Panel>
  )
}

type Proposal = Json<ProposalList>['proposals'][number]

export function byText({ proposedBy, backedBy }: Pick<Proposal, 'proposedBy' | 'backedBy'>): string {
  if (proposedBy === backedBy) return proposedBy
  return `${proposedBy} (name not verified)${backedBy === null ? '' : `, backed by ${backedBy}`}`
}

type Undecided = { proposalId: string; act: string; refresh: () => void }

export function Decide({ proposalId, act, refresh }: Undecided) {
  const { isSandbox: hasNoPasskey } = useContext(Me)
  const common = { needs: 'operator', input: () => ({ proposalId }), onDone: refresh } as const
  return (
    <div className="acts">
      {hasNoPasskey ? (
        <span className="quiet">To approve, sign in with a passkey (tradetill operator add).</span>
      ) : (
        <ActButton
          {...common}
          act="proposal approve"
          label="Approve"
          does={`Carries out the act: ${act}. A proposal by command needs two operators: the first only backs it.`}
        />
      )}
      <ActButton {...common} act="proposal decline" label="Decline" does="Rejects the act." needsReason />
    </div>
  )
}

function Limit({ refresh }: { refresh: () => void }) {
  return (
    <div className="acts">
      <ActButton
        act="proposal limit"
        label="Change the limit"
        does="If an operator’s acts move more than this amount in 24 hours, a second operator must approve them. Once a limit is set, changing it needs approval too."
        needs="operator"
        needsReason
        fields={[
          {
            name: 'dollars',
            label: 'Whole dollars',
            isOptional: true,
            hint: 'Leave empty if no act should need approval.',
          },
        ]}
        input={({ dollars = '' }) => ({ dollars: dollars.trim() === '' ? null : dollars.trim() })}
        onDone={refresh}
      />
    </div>
  )
}

function Operators() {
  const { shown, refresh } = useAnswer<Json<OperatorList>>('operators', {})
  return (
    <Panel title="Operators">
      <p className="quiet">
        Add and remove operators by command: <code>tradetill operator add NAME --role viewer</code>
      </p>
      <Loaded shown={shown} refresh={refresh}>
        {({ operators }) => (
          <Table
            caption="Operators"
            rows={operators}
            keyOf={({ operatorId }) => operatorId}
            empty="No operator has been added."
            columns={[
              { name: 'Name', show: ({ name }) => name },
              { name: 'Role', show: ({ role }) => role },
              { name: 'Passkeys', isNumber: true, show: ({ passkeys }) => passkeys },
              { name: 'Sessions', isNumber: true, show: ({ sessions }) => sessions },
              { name: 'Since', show: ({ createdAt }) => <Time at={createdAt} /> },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  )
}
