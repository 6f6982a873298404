# Reads a formula of Homebrew as that would, in place of it, and prints what it says: for each system and processor the URL and the checksum.
class Formula
  class << self
    def facts = @facts ||= []
    %w[desc homepage version license].each { |word| define_method(word) { |value| facts << [word, value] } }
    %w[on_macos on_linux on_arm on_intel].each do |word|
      define_method(word) do |&block|
        (@where ||= []).push(word)
        block.call
        @where.pop
      end
    end
    def url(value) = facts << [*@where, "url", value]
    def sha256(value) = facts << [*@where, "sha256", value]
    def test(&block) = block || raise("a test without a block")
  end
end
load ARGV[0]
raise "there is no install" unless ApplyPatch.method_defined?(:install)
ApplyPatch.facts.each { |fact| puts fact.join(" ") }
