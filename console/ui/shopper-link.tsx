import { NOBODY } from '../../contract/steam-id.ts'
import { PageLink } from './link.tsx'

/** Links to the page of an account. `steamId`: null if none is known. An erased account has no page. */
export function ShopperLink({ steamId }: { steamId: string | null }) {
  if (steamId === null) return <span className="quiet">—</span>
  if (steamId === NOBODY) return <span className="quiet">erased</span>
  return (
    <PageLink className="whole" to={`/shoppers/${steamId}`}>
      {steamId}
    </PageLink>
  )
}
