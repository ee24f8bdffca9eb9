import './skeletons.css'
import { useNarrow } from './hooks.ts'

/** Stands in for the items until they are loaded. */
export function Skeletons({ label }: { label: string }) {
  const isNarrow = useNarrow()
  return (
    <div className="shelf skeletons" aria-busy="true">
      <span className="progress" aria-hidden="true" />
      <p className="skeleton-note" role="status">
        {label}
      </p>
      <div className="skeleton-grid" aria-hidden="true">
        {/* Enough cards to fill the first view. */}
        {Array.from({ length: isNarrow ? 12 : 18 }, (_, index) => `cell ${index}`).map((key) => (
          <span key={key} className="skeleton skeleton-card" />
        ))}
      </div>
    </div>
  )
}
