"""ProfileOptionBuilder: what `profile` is to count and show, built step by step."""

from __future__ import annotations

from collections.abc import Sequence

from weft.client.model_analyzer import FLOAT_OPS_OPTIONS, TRAINABLE_VARS_PARAMS_STAT_OPTIONS, Options


class ProfileOptionBuilder:
    """Options of a report; each method changes one and gives the builder back.

        options = ProfileOptionBuilder(ProfileOptionBuilder.float_operation()).with_max_depth(3).order_by("name").build()

    Args:
        options: where to begin; parameters of trainable variables when None.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = dict(TRAINABLE_VARS_PARAMS_STAT_OPTIONS if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, object]:
        """Options that count the parameters of trainable variables."""
        return dict(TRAINABLE_VARS_PARAMS_STAT_OPTIONS)

    @staticmethod
    def float_operation() -> dict[str, object]:
        """Options that count floating-point operations."""
        return dict(FLOAT_OPS_OPTIONS)

    def build(self) -> dict[str, object]:
        """The options."""
        return dict(self._options)

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show so many levels of name scopes.

        Args:
            max_depth: how many levels below the root are shown; what is deeper counts in the level above.
        """
        return self._with("max_depth", max_depth)

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Write the report to a file.

        Args:
            outfile: the file's path; the report is then not printed.
        """
        return self._with("output", f"file:outfile={outfile}")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Print the report."""
        return self._with("output", "stdout")

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Only return it."""
        return self._with("output", "none")

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Count ops of these types only.

        Args:
            account_type_regexes: regular expressions, one of which an op's type has to match.
        """
        return self._with("account_type_regexes", list(account_type_regexes))

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Choose what to count: "params", "float_ops".

        Args:
            attributes: what the report shows of each name.
        """
        return self._with("select", list(attributes))

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Choose by what to sort: "name", "params", "float_ops".

        Args:
            attribute: what the names are sorted by, the largest first.
        """
        return self._with("order_by", attribute)

    def _with(self, name: str, value: object) -> ProfileOptionBuilder:
        self._options[name] = value
        return self
